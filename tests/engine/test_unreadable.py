"""One bad input never stops the corpus, and what cannot be read is never deleted (invariant 5)."""

import os

import pytest

from steadlith_core.errors import AdapterError
from steadlith_core.records import FindingKind

BAD = {
    "invalid.md": (b"# Good\n\nalpha \xff bad\n", FindingKind.UNDECODABLE),
    "binary.md": (b"\x89PNG\r\n\x00\x00alpha", FindingKind.BINARY),
    "utf16.md": ("alpha".encode("utf-16"), FindingKind.BINARY),
    "front.md": (b"---\ntitle: *alias\n---\nalpha\n", FindingKind.FRONT_MATTER),
}


def findings(plan):
    return {finding.place: finding.kind for finding in plan.findings}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_a_finding_and_the_rest_goes_on(site, article, name):
    content, kind = BAD[name]
    site.write("good.md", article("good"))
    site.write(name, content)
    planned = site.plan()
    assert findings(planned) == {f"docs:{name}": kind}
    assert site.apply(planned).head.documents == 1


@pytest.mark.parametrize("name", BAD)
def test_a_document_that_went_bad_keeps_its_recorded_state(settled, name):
    content, kind = BAD[name]
    settled.write("one.md", content)
    planned = settled.plan()
    assert planned.is_empty
    assert findings(planned) == {"docs:one.md": kind}
    assert any(hit.document.path == "one.md" for hit in settled.hits("one"))


def test_a_bad_document_survives_a_change_of_chunker_and_model(settled):
    settled.write("one.md", b"\xff\xfe")
    text = (settled.root / "steadlith.toml").read_text("utf-8")
    text = text.replace("max_tokens = 48", "max_tokens = 49").replace("dimensions = 32", "dimensions = 64")
    (settled.root / "steadlith.toml").write_text(text, "utf-8")
    settled.apply(allow=["--allow-model-change"])
    assert any(hit.document.path == "one.md" for hit in settled.hits("one"))
    assert settled.open().verify().ok
    assert settled.plan().is_empty


def test_an_empty_file_is_a_document_without_chunks(site):
    site.write("empty.md", b"")
    site.write("blank.md", b" \n\t\n\n")
    done = site.apply()
    assert (done.head.documents, done.head.chunks) == (2, 0)
    assert site.plan().is_empty
    assert site.open().verify().ok


def test_a_file_over_the_limit_is_a_finding_and_keeps_its_recorded_state(make_site, article):
    site = make_site()
    site.write("big.md", article("big"))
    site.apply()
    site.configure(source="max_file_bytes = 100")
    planned = site.plan()
    assert findings(planned) == {"docs:big.md": FindingKind.TOO_LARGE} or {
        place.removeprefix("docs:") for place in findings(planned)
    } == {"big.md"}
    assert planned.is_empty


def test_a_name_that_is_not_utf8_is_a_finding(settled):
    (settled.docs / os.fsdecode(b"caf\xe9.md")).write_bytes(b"alpha\n")
    planned = settled.plan()
    assert list(findings(planned).values()) == [FindingKind.NAME_NOT_UTF8]
    assert planned.is_empty
    assert "\\xe9" in next(iter(findings(planned))).lower()


def test_a_pipe_does_not_block_the_plan(settled):
    os.mkfifo(settled.docs / "pipe.md")
    planned = settled.plan()
    assert list(findings(planned).values()) == [FindingKind.NOT_A_FILE]


def test_our_own_files_are_never_documents(make_site):
    site = make_site()
    (site.root / "steadlith.toml").write_text('[sources.all]\npath = "."\n[embedding]\nembedder = "hash"\n', "utf-8")
    site.write("a.md", "alpha\n")
    site.apply()
    assert site.open().head().documents == 1
    assert site.plan().is_empty


PLAN_AS_NOBODY = """
import steadlith
index = steadlith.open(arguments[0])
index.plan()
(target,) = arguments[1:]
os.chmod(target, 0)
drop()
plan = index.plan()
answer([plan.is_empty, [str(finding.kind) for finding in plan.findings]])
"""


@pytest.mark.parametrize(
    ("target", "kind"), [("one.md", FindingKind.UNREADABLE_FILE), ("sub", FindingKind.UNREADABLE_FOLDER)]
)
def test_what_is_unreadable_is_a_finding_and_nothing_there_is_deleted(
    site_at, public_path, as_nobody, article, target, kind
):
    site = site_at(public_path / "site")
    site.write("one.md", article("one"))
    site.write("sub/deep.md", article("deep"))
    site.apply()
    for path in site.root.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)
    assert as_nobody(PLAN_AS_NOBODY, str(site.root), str(site.docs / target)) == [True, [kind]]


def test_a_document_that_the_policy_refuses_is_a_finding_and_the_rest_is_planned(site_at, tmp_path):
    site = site_at(tmp_path / "site")
    config = site.root / "steadlith.toml"
    text = config.read_text("utf-8").replace('"structural"\nmin_tokens = 16\nmax_tokens = 48', '"fixed"\nmax_words = 2')
    config.write_text(text.replace("max_words = 2", "max_words = 2\nmax_sections = 5"), "utf-8")
    site.write("a.md", "one two three")
    site.write("long.md", "word " * 50)
    site.write("z.md", "four five")
    plan = site.plan()
    assert [(finding.place, str(finding.kind)) for finding in plan.findings] == [("docs:long.md", "too_many_sections")]
    assert sorted(change.id.path for change in plan.changes) == ["a.md", "z.md"]


def test_a_policy_that_breaks_is_an_adapters_error_that_names_it(site_at, tmp_path, monkeypatch):
    site = site_at(tmp_path / "site")
    site.write("a.md", "text")

    def broken(*_arguments):
        raise IndexError("out of range")

    monkeypatch.setattr("steadlith_core.chunking.structural.StructuralChunker.cut_many", broken)
    with pytest.raises(AdapterError, match="cutting by structural/1"):
        site.plan()
