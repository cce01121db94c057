import pytest

# Before the first import of the kit: its asserts are what failures are explained with.
pytest.register_assert_rewrite("steadlith_conformance")
