"""How the lexical index is kept: in how many segments, and when they are merged."""

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, lexical, settle
from steadlith_conformance.samples import doc, pieces, write

SMALL = "INSERT INTO lexical(lexical, rank) VALUES ('hashsize', 4096)"
SEGMENTS = "SELECT count(DISTINCT segid) FROM lexical_idx"
UNTUNED = {"crisismerge": 16}
TUNED = {"automerge": 8, "crisismerge": 16, "hashsize": 16 << 20}


@pytest.mark.parametrize("beside", [True, False])
def test_a_commit_that_doubles_the_index_merges_once_and_leaves_the_tuning_as_it_was(tmp_path, monkeypatch, beside):
    segments, tuned = [], []
    merge = lexical.merge

    def counting(session):
        segments.append(session.value(SEGMENTS))
        merge(session)
        segments.append(session.value(SEGMENTS))

    flip = settle.vectors.flip  # the last that a commit does with its entries

    def looking(session):
        tuned.append(UNTUNED | dict(session.run("SELECT k, v FROM lexical_config WHERE k <> 'version'")))
        flip(session)

    monkeypatch.setattr(lexical, "AT_ONCE", 50 if beside else settle.LARGE + 1)
    monkeypatch.setattr(lexical, "merge", counting)
    monkeypatch.setattr(settle.vectors, "flip", looking)
    # As if a thousand chunks were many: 4 KiB of words a segment, and so more of them than FTS5 would let be.
    monkeypatch.setattr(lexical, "LEAVE_SEGMENTS", (*lexical.LEAVE_SEGMENTS, SMALL))
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)
    write(store, {doc("large.md"): pieces(*(f"page {number} of many" for number in range(settle.LARGE)))})
    before, after = segments
    assert (before > 16, after) == (True, 1)
    write(store, {doc("small.md"): pieces("one more page")})
    assert segments == [before, after]
    assert [each.items() >= TUNED.items() for each in tuned] == [True, True]
    reader = store.snapshot()
    assert len(reader.lexical(["page"], 1000)) == 1000
    assert list(reader.problems(full=True)) == []
    store.close()
