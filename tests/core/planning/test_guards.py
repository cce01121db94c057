import pytest


def many(build, count, folder=""):
    return [build.wanted(f"{folder}{i}.md", [f"text {folder}{i}"]) for i in range(count)]


def tripped(build, before, after):
    return [guard.guard for guard in build.plan(before, after).tripped]


def test_ordinary_edits_pass(build):
    before = [build.wanted(f"{i}.md", [f"{i} a", f"{i} b", f"{i} c"]) for i in range(30)]
    after = [
        build.wanted(f"{i}.md", [f"{i} a", f"{i} X", f"{i} c"] if i < 20 else [f"{i} a", f"{i} b", f"{i} c"])
        for i in range(30)
    ]
    assert tripped(build, before, after) == []


def test_an_emptied_source_stops(build):
    assert "emptied_source" in tripped(build, many(build, 3), [])


@pytest.mark.parametrize(
    ("count", "removed", "stops"), [(20, 5, False), (20, 6, True), (100, 10, False), (100, 11, True)]
)
def test_removals_stop_above_five_and_ten_percent(build, count, removed, stops):
    documents = many(build, count)
    assert ("removed_documents" in tripped(build, documents, documents[removed:])) is stops


def test_a_renamed_folder_is_no_removal(build):
    texts = [[f"text {i}"] for i in range(40)]
    before = [build.wanted(f"old/{i}.md", row) for i, row in enumerate(texts)]
    after = [build.wanted(f"new/{i}.md", row) for i, row in enumerate(texts)]
    assert tripped(build, before, after) == []


def test_a_gone_folder_of_ten_stops_and_is_named_once(build):
    rest = many(build, 200)
    before = [*rest, *many(build, 10, "a/b/")]
    plan = build.plan(before, rest)
    assert [(guard.guard, guard.override) for guard in plan.tripped] == [("removed_folder", "--allow-removals")]
    assert "'docs:a/'" in plan.tripped[0].message


def test_many_chunks_deleted_without_replacement_stop(build):
    before = [build.wanted("a.md", [f"t{i}" for i in range(200)]), build.wanted("b.md", ["x"])]
    after = [build.wanted("a.md", [f"t{i}" for i in range(100)]), build.wanted("b.md", ["x"])]
    assert tripped(build, before, after) == ["deleted_chunks"]
