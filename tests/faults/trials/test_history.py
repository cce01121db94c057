"""The history checker is a test, so it is tested: it accepts what one index can have told, and nothing else."""

from dataclasses import replace

import pytest
from trials.history import ALREADY, COMMITTED, REFUSED, Apply, Kept, Log, Read, gather, problems


def content(mark):
    return tuple((f"{name}.md", f"{mark} part {part}") for name in "xy" for part in range(2))


def committed(process, base, at):
    mark = f"{process}{base}"
    return Apply(process, at, base, f"plan {mark}", f"root {mark}", content(mark), at + 5, COMMITTED, base + 1)


def read(process, of, at, **changes):
    return replace(Read(process, at, at + 2, of.generation, of.content, of.root), **changes)


ONE = committed("a", 0, 10)
TWO = committed("b", 1, 20)
SAME = replace(TWO, process="c", began=21, ended=29, outcome=ALREADY)
LATE = replace(committed("a", 1, 22), outcome=REFUSED, generation=None)
KILLED = replace(committed("a", 2, 30), ended=None, outcome=None, generation=None)
KEPT = [Kept(each.base + 1, each.base, each.plan, each.root) for each in (ONE, TWO)]
GOOD = [
    ONE,
    TWO,
    SAME,
    LATE,
    KILLED,
    Read("r", 1, 2, 0, ()),
    read("r", ONE, 12),
    read("s", ONE, 18),
    read("r", TWO, 23),
    read("s", ONE, 22),
    read("s", TWO, 40),
]


def told(operations=GOOD, kept=KEPT):
    return " | ".join(problems(operations, kept))


def forged(was, **changes):
    return [replace(each, **changes) if each is was else each for each in GOOD]


def test_what_one_index_can_have_told_is_accepted():
    assert told() == ""


def test_an_unanswered_apply_may_have_happened():
    happened = Kept(3, 2, KILLED.plan, KILLED.root)
    seen = replace(KILLED, generation=3)
    assert told([*GOOD, read("r", seen, 50)], [*KEPT, happened]) == ""


@pytest.mark.parametrize(
    ("operations", "kept", "says"),
    [
        pytest.param(GOOD, KEPT[:1], "lost update: generation 2", id="an acknowledged commit is gone"),
        pytest.param(
            GOOD, [KEPT[0], replace(KEPT[1], plan="plan x")], "lost update: generation 2", id="it was replaced"
        ),
        pytest.param(
            GOOD, [KEPT[0], replace(KEPT[1], root="root x")], "lost update: generation 2", id="with another root"
        ),
        pytest.param(forged(SAME, generation=1), KEPT, "lost update: generation 1", id="a false already"),
        pytest.param(
            forged(LATE, outcome=COMMITTED, generation=2), KEPT, "double base: a, b", id="two commits on one base"
        ),
        pytest.param(
            [*GOOD, replace(committed("d", 0, 60), generation=2)], KEPT, "double number: b, d", id="one number twice"
        ),
        pytest.param(
            forged(TWO, generation=3), KEPT, "generation 3 was acknowledged on base 1", id="a generation was skipped"
        ),
        pytest.param(GOOD, [KEPT[0], replace(KEPT[1], parent=0)], "no chain", id="a fork"),
        pytest.param(
            GOOD, [*KEPT, Kept(3, 2, "plan ?", "root ?")], "phantom: generation 3", id="a generation from nowhere"
        ),
        pytest.param(
            forged(TWO, outcome=REFUSED, generation=None), KEPT, "phantom: generation 2", id="a refusal that did it"
        ),
        pytest.param(
            [*GOOD, read("r", ONE, 50, generation=2)], KEPT, "r: torn read of generation 2", id="another's content"
        ),
        pytest.param(
            [*GOOD, read("t", TWO, 50, content=TWO.content[:3])], KEPT, "1 chunks missing", id="a chunk is missing"
        ),
        pytest.param(
            [*GOOD, read("t", TWO, 50, content=(*TWO.content[:3], ONE.content[3]))],
            KEPT,
            "foreign: [('y.md', 'a0 part 1')]",
            id="a mix of two generations",
        ),
        pytest.param(
            [*GOOD, read("t", TWO, 50, content=(*TWO.content, TWO.content[0]))], KEPT, "torn read", id="one chunk twice"
        ),
        pytest.param(
            [*GOOD, read("t", TWO, 50, root=ONE.root)], KEPT, "root of another generation", id="a head of another one"
        ),
        pytest.param(
            [*GOOD, read("t", TWO, 50, generation=9)], KEPT, "generation 9, which nobody committed", id="no such one"
        ),
        pytest.param([*GOOD, read("r", ONE, 26)], KEPT, "r: read went back to generation 1 after 2", id="going back"),
        pytest.param([*GOOD, read("t", ONE, 26)], KEPT, "t: read went back", id="going back behind another process"),
        pytest.param(
            [ONE, TWO, read("t", ONE, 26)], KEPT, "read generation 1 after 2 was acknowledged", id="a stale read"
        ),
        pytest.param(
            [ONE, TWO, read("t", TWO, 16)], KEPT, "read generation 2 before it was asked for", id="a read of the future"
        ),
    ],
)
def test_what_no_index_can_have_told_is_found(operations, kept, says):
    assert says in told(operations, kept)


def test_a_log_is_read_back_and_a_line_that_was_cut_off_announces_nothing(tmp_path):
    log = Log(tmp_path / "a.log")
    apply = log.began(what="apply", at=10, base=0, plan="p", root="r", content=[["x.md", "one"]])
    search = log.began(what="read", at=11)
    log.ended(search, at=12, generation=0, content=[])
    log.began(what="read", at=13)
    log.ended(apply, at=20, outcome=COMMITTED, generation=1)
    with (tmp_path / "a.log").open("a") as file:
        file.write('{"began": 9, "what": "app')
    assert gather(tmp_path) == [
        Apply("a", 10, 0, "p", "r", (("x.md", "one"),), 20, COMMITTED, 1),
        Read("a", 11, 12, 0, ()),
    ]
