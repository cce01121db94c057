"""What opens up in a plan file, and what stays on one line."""

from steadlith_core.planning.layout import lay_out


def test_a_step_is_one_line_whatever_it_holds():
    step = {"text": "x", "span": {"lines": [1, 2]}}
    assert lay_out({"changes": [{"steps": [step], "id": "a"}]}) == (
        '{\n "changes": [\n  {\n   "id": "a",\n   "steps": [\n'
        '    {"span": {"lines": [1, 2]}, "text": "x"}\n   ]\n  }\n ]\n}'
    )
    assert lay_out([[step]], 2) == '[\n   [\n    {"span": {"lines": [1, 2]}, "text": "x"}\n   ]\n  ]'


def test_the_two_uppermost_levels_open_up_and_below_what_holds_no_further_value_does_not():
    value = {"base": {"documents": 1, "spaces": ["a", "b"]}}
    assert lay_out(value) == '{\n "base": {\n  "documents": 1,\n  "spaces": ["a", "b"]\n }\n}'
    assert lay_out({"empty": [], "none": {}}) == '{\n "empty": [],\n "none": {}\n}'
    assert lay_out([1, {}], 2) == "[1, {}]"
    assert lay_out([1, {"a": 1}], 2) == '[\n   1,\n   {"a": 1}\n  ]'
