import tomllib
from dataclasses import replace

import pytest

from steadlith import lockfile, manifests
from steadlith.verify import Pinned, verify, verify_manifest
from steadlith_core.digest import Digest
from steadlith_core.errors import ConfigError, UsageError


def locked(site):
    with site.open() as index, index.reader() as reader:
        return lockfile.pin(manifests.header(reader, reader))


def test_a_lock_is_a_few_lines_of_toml_that_read_back(settled, tmp_path):
    lock = locked(settled)
    text = lockfile.dump(lock)
    assert text == lockfile.dump(locked(settled))
    assert text.startswith("# Made by `steadlith lock`")
    assert len(text.splitlines()) < 30
    assert tomllib.loads(text)["corpus_root"] == str(lock.corpus_root)
    (tmp_path / "x.lock").write_text(text, "utf-8")
    assert lockfile.load(tmp_path / "x.lock") == lock


def test_an_index_and_its_manifest_match_their_lock(settled):
    lock = locked(settled)
    with settled.open() as index, index.reader() as reader:
        assert verify(reader, lock=lock).ok
        told = manifests.ManifestReader(manifests.export(reader, manifests.header(reader, reader)))
    assert verify_manifest(told, Pinned(lock=lock)).ok


def test_every_difference_is_named(settled):
    lock = locked(settled)
    recipe = lock.recipe
    wrong = replace(
        lock,
        corpus_root=lock.state_root,
        state_root=lock.corpus_root,
        documents=9,
        chunks=9,
        identity_schema="identity/0",
        recipe=replace(
            recipe,
            normalizer_id="text/0",
            chunker_id="fixed/1",
            chunker_params_hash=Digest(bytes(32)),
            content_hash=Digest(bytes(32)),
            template_id="breadcrumb/0",
            lexical_id="none",
            spaces=(),
        ),
    )
    with settled.open() as index, index.reader() as reader:
        problems = verify(reader, lock=wrong).problems
    names = "corpus root, state root, number of documents, number of chunks, identity schema, normalizer_id, chunker_id"
    names += ", chunker_params_hash, content_hash, template_id, lexical_id, spaces"
    assert [problem.split(" is ")[0] for problem in problems] == [f"the {name}" for name in names.split(", ")]
    assert "the number of documents is 3, the lock has 9" in problems
    assert problems[-1].endswith("the lock has none")


def test_other_source_bytes_alone_break_no_lock(settled):
    lock = locked(settled)
    place = settled.docs / "one.md"
    place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))
    settled.apply()
    assert locked(settled).sources_root != lock.sources_root
    with settled.open() as index, index.reader() as reader:
        assert verify(reader, lock=lock).ok


def test_there_is_nothing_to_lock_before_the_first_apply(site):
    with pytest.raises(UsageError, match="run `steadlith apply` first"):
        locked(site)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "x", "is no lock file"),
        (lambda text: text.replace('"1.0"', '"2.0"'), "has format '2.0'; this version reads 1.0"),
        (lambda text: text.replace('corpus_root = "b3:', 'corpus_root = "'), "corpus_root: not a digest"),
        (lambda text: text.replace("documents = 3", "documents = true"), "documents = True: expected"),
        (lambda text: text.replace("[identities]", "[other]"), "identities = None"),
        (lambda text: text.split("[[spaces]]")[0].replace("chunks", "spaces = [1]\nchunks"), "spaces = 1"),
        (lambda text: text.replace("dimensions = 32", "dimensions = 0"), "1 to 8192 dimensions"),
    ],
)
def test_a_file_that_is_no_lock_says_which_key_and_value(settled, tmp_path, change, message):
    file = tmp_path / "x.lock"
    file.write_text(change(lockfile.dump(locked(settled))), "utf-8")
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        lockfile.load(file)


def test_a_file_that_is_not_there_says_who_makes_it(tmp_path):
    with pytest.raises(ConfigError, match="`steadlith lock` makes it"):
        lockfile.load(tmp_path / "none")
