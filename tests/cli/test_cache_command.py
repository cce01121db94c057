"""`steadlith cache` as a user types it: words, documents, exit codes."""

import json
import os
from dataclasses import replace

import apsw
import pytest

from steadlith.assembly import Assembly


@pytest.fixture
def applied(folder, cli):
    """Three documents of a chunk each."""
    (folder / "docs" / "c.md").write_text("# Cherries\n\nCherries are small.\n", "utf-8")
    assert cli("apply", "--yes").code == 0
    return folder


def cache_file(folder):
    return folder / ".steadlith" / "cache.sqlite3"


def statement(folder, sql):
    connection = apsw.Connection(str(cache_file(folder)))
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


def document(ran):
    assert ran.err == ""
    found = json.loads(ran.out)
    assert found.pop("format_version") == "1.0"
    return found


def test_stats_count_entries_bytes_dimensions_and_days(applied, cli):
    said = cli("cache", "stats").out
    assert "3 entries\n  3 of 256 dimensions\nVectors: 3,072 bytes; files: " in said
    found = document(cli("cache", "stats", "--json"))
    assert (found["kind"], found["entries"], found["imported"]) == ("steadlith-cache-stats", 3, 0)
    assert (found["vector_bytes"], found["dimensions"]) == (3072, {"256": 3})
    assert found["file_bytes"] == cache_file(applied).stat().st_size
    assert found["oldest_use"] == found["latest_use"] in said


def test_where_there_is_no_cache_nothing_is_made(folder, cli):
    assert cli("cache", "stats").out == "There is no cache yet.\n"
    assert document(cli("cache", "stats", "--json"))["oldest_use"] is None
    assert cli("cache", "verify").out == "OK: 0 entries\n"
    assert cli("cache", "prune", "--imported", "--yes").out == "Nothing to prune: 0 entries stay.\n"
    assert cli("cache", "export", "empty.cache").code == 0
    assert not cache_file(folder).exists()
    assert "Imported 0 of 0 entries" in cli("cache", "import", "empty.cache", "--trust").out


def test_prune_counts_first_and_removes_with_yes(applied, cli):
    counted = cli("cache", "prune", "--max-bytes", "2kB")
    assert "Would remove 2 of 3 entries, 2,048 bytes of vectors." in counted.out
    assert "pass --yes" in counted.out
    assert document(cli("cache", "prune", "--max-bytes", "2kB", "--json"))["done"] is False
    assert statement(applied, "select count(*) from embedding") == [(3,)]
    found = document(cli("cache", "prune", "--max-bytes", "2kB", "--yes", "--json"))
    assert (found["done"], found["entries"], found["vector_bytes"], found["of"]["entries"]) == (True, 2, 2048, 3)
    assert found["file_bytes_after"] == cache_file(applied).stat().st_size <= found["file_bytes_before"]
    assert found["held_back"] is None
    assert statement(applied, "select count(*) from embedding") == [(1,)]


@pytest.mark.parametrize(
    ("size", "left"), [("0", 0), ("1024", 1), ("1 KiB", 1), ("2kib", 2), ("3KB", 2), ("1GiB", 3), ("9" * 30 + "TiB", 3)]
)
def test_a_size_is_written_as_people_write_it(applied, cli, size, left):
    assert document(cli("cache", "prune", "--max-bytes", size, "--json"))["entries"] == 3 - left


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--unused-days, --max-bytes or --imported"),
        (["--max-bytes", "-1"], "'-1' is no size"),
        (["--max-bytes", "1.5GB"], "'1.5GB' is no size"),
        (["--max-bytes", "5 bananas"], "'5 bananas' is no size"),
        (["--max-bytes", "٣"], "is no size"),
        (["--unused-days", "0"], "0 is not in the range"),
        (["--unused-days", "soon"], "'soon'"),
    ],
)
def test_a_rule_that_says_nothing_is_a_usage_error(applied, cli, arguments, named):
    ran = cli("cache", "prune", "--yes", *arguments)
    assert (ran.code, named in ran.err) == (64, True), ran.err
    assert statement(applied, "select count(*) from embedding") == [(3,)]


@pytest.mark.parametrize("days", ["1", "999999999", "9" * 40])
def test_any_number_of_days_is_a_rule(applied, cli, days):
    assert document(cli("cache", "prune", "--unused-days", days, "--yes", "--json"))["entries"] == 0


def test_export_and_import_tell_how_many_and_the_same_digest(applied, cli):
    exported = document(cli("cache", "export", "team.cache", "--json"))
    assert (exported["entries"], exported["bytes"], exported["left_out"]) == (
        3,
        (applied / "team.cache").stat().st_size,
        0,
    )
    cli("cache", "prune", "--max-bytes", "1kB", "--yes")
    imported = document(cli("cache", "import", "team.cache", "--trust", "--json"))
    assert (imported["entries"], imported["added"], imported["digest"]) == (3, 3, exported["digest"])
    again = cli("cache", "import", "team.cache", "--trust").out
    assert "Imported 0 of 3 entries" in again
    assert "3 entries were there already." in again
    assert "3 of them imported" in cli("cache", "stats").out


def test_an_import_without_trust_is_refused_with_the_reason(applied, cli):
    cli("cache", "export", "team.cache")
    ran = cli("cache", "import", "team.cache")
    assert ran.code == 3
    assert "no checksum can show it" in ran.err
    assert "--trust" in ran.err
    assert json.loads(cli("cache", "import", "team.cache", "--json").out)["error"] == "ApprovalMissing"


@pytest.mark.parametrize("what", ["absent", "text", "folder", "pipe", "empty"])
def test_what_is_no_cache_file_is_named_with_the_way_out(applied, cli, what):
    place = applied / "given"
    match what:
        case "text":
            place.write_text("not a cache\n")
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "empty":
            place.write_bytes(b"")
    ran = cli("cache", "import", "given", "--trust")
    assert ran.code == 1
    assert "given" in ran.err
    assert "`steadlith cache export FILE` writes one" in ran.err


@pytest.mark.parametrize("place", [".steadlith/cache.sqlite3", ".steadlith", "nowhere/x.cache", ""])
def test_an_export_that_cannot_be_written_is_told(applied, cli, place):
    before = cache_file(applied).read_bytes()
    ran = cli("cache", "export", place)
    assert ran.code == 64, ran.err
    assert ran.err.startswith("Error: ")
    assert cache_file(applied).read_bytes() == before


def test_a_damaged_entry_is_exit_2_and_repair_drops_it(applied, cli):
    assert cli("cache", "verify").out == "OK: 3 entries\n"
    statement(applied, "update embedding set vector = zeroblob(length(vector)) where id = 1")
    ran = cli("cache", "verify")
    assert (ran.code, "does not match its checksum" in ran.out, "--repair" in ran.out) == (2, True, True)
    assert "1 damaged entry left out" in cli("cache", "export", "team.cache").out
    ran = cli("cache", "verify", "--json")
    assert (ran.code, len(document(ran)["damaged"]), document(ran)["dropped"]) == (2, 1, None)
    ran = cli("cache", "verify", "--repair", "--json")
    assert (ran.code, document(ran)["dropped"]) == (0, 1)
    assert cli("cache", "verify").out == "OK: 2 entries\n"
    assert "Nothing" not in cli("cache", "verify", "--repair").out


def test_a_sample_of_a_local_model_is_embedded_and_of_a_hosted_one_only_with_yes(applied, cli, monkeypatch):
    ran = cli("cache", "verify", "--sample", "2")
    assert (ran.code, ran.out) == (0, "OK: 3 entries, 2 of 2 sampled texts there\n")
    assert "Embedding 2 texts again: about" in ran.err
    identity = Assembly.embedder_identity
    hosted = property(lambda self: replace(identity.__get__(self), local=False))
    monkeypatch.setattr(Assembly, "embedder_identity", hosted)
    ran = cli("cache", "verify", "--sample", "2")
    assert ran.code == 3
    assert "unknown" in ran.err  # nobody gave a price, so there is none to be told
    assert "--yes" in ran.err
    assert cli("cache", "verify", "--sample", "2", "--yes").code == 0


def test_what_a_sample_finds_astray_is_exit_2_and_what_the_index_holds_stays_told(applied, cli):
    from steadlith_core.cachefile import entry_checksum

    connection = apsw.Connection(str(cache_file(applied)))
    for id_, key, vector in connection.execute("select id, key, vector from embedding").fetchall():
        other = vector[4:] + vector[:4]
        row = (other, entry_checksum(key + other), id_)
        connection.execute("update embedding set vector = ?, checksum = ? where id = ?", row)
    connection.close()
    for path in (applied / ".steadlith").glob("index*"):
        path.unlink()
    assert "0 embedded, 3 from the cache" in cli("apply", "--yes").out
    assert cli("cache", "verify").code == 0  # no checksum shows it
    ran = cli("cache", "verify", "--sample", "9")
    assert ran.code == 2
    assert "is not what the model makes of its text" in ran.out
    assert "The index holds 3 such vectors" in ran.out
    ran = cli("cache", "verify", "--sample", "9", "--repair", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["dropped"], len(found["sample"]["astray_in_index"])) == (2, 3, 3)
    for path in (applied / ".steadlith").glob("index*"):
        path.unlink()
    assert "3 embedded, 0 from the cache" in cli("apply", "--yes").out
    assert cli("cache", "verify", "--sample", "9").code == 0
