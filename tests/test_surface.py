"""The public surface is pinned: what is added or taken away is a decision."""

import steadlith
import steadlith_core


def test_the_engine_exports_exactly_these_names():
    assert steadlith.__all__ == [
        *("Answer", "Explained", "Hit", "Index", "Level", "Look", "Plan", "Result", "SteadlithError", "Verification"),
        "open",
    ]
    assert steadlith._HOMES.keys() == set(steadlith.__all__)
    for name in steadlith.__all__:
        assert getattr(steadlith, name).__name__ == name


def test_the_core_exports_exactly_these_names():
    assert steadlith_core.__all__ == [
        *("Chunk", "Digest", "DocumentId", "Finding", "FindingKind", "Format", "Generation", "Head", "Listing"),
        *("Recipe", "SourceEntry", "Space", "Span", "SteadlithError"),
    ]
    for name in steadlith_core.__all__:
        assert getattr(steadlith_core, name).__name__ == name
