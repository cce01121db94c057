"""Progress off a terminal: few lines, on stderr."""

from steadlith.cli.progress import Progress
from steadlith_core.events import (
    Checking,
    Committed,
    Committing,
    Embedded,
    Refused,
    Retrying,
    Started,
    Waiting,
    Warned,
)
from steadlith_core.records import Finding, FindingKind


def told(capsys, events):
    progress = Progress()
    for event in events:
        progress(event)
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


def test_a_long_run_says_how_much_it_is_and_then_at_most_ten_lines(capsys):
    done = [*range(64, 10_189, 64), 10_189]
    lines = told(capsys, [Started(10_189, 160), *(Embedded(count, 10_189) for count in done)])
    assert lines[0] == "Embedding 10,189 texts in 160 calls…"
    assert lines[1] == "Embedded 1,024 of 10,189 texts"
    assert lines[-1] == "Embedded 10,189 of 10,189 texts"
    assert len(lines) == 11


def test_a_run_of_one_call_or_none_is_silent(capsys):
    assert told(capsys, [Started(3, 1), Embedded(3, 3)]) == []
    assert told(capsys, [Started(0, 0)]) == []


def test_warnings_are_shown_without_control_characters(capsys):
    assert told(capsys, [Warned("a\x1bb")]) == ["Warning: a\\x1bb"]


def test_apply_tells_it_on_stderr(cli, folder):
    config = folder / "steadlith.toml"
    config.write_text(config.read_text("utf-8").replace('embedder = "hash"', 'embedder = "hash"\nbatch_size = 1'))
    ran = cli("apply", "--yes")
    assert ran.err.splitlines() == [
        "Embedding 2 texts in 2 calls…",
        "Embedded 1 of 2 texts",
        "Embedded 2 of 2 texts",
    ]


def test_whatever_is_waited_for_is_told_with_its_reason(capsys):
    assert told(capsys, [Waiting("process 7 holds it", 60.0), Retrying("429 from the provider", 2.5, 2)]) == [
        "Waiting for the lock, at most 60 s: process 7 holds it",
        "429 from the provider: waiting 2.5 s, then attempt 2",
    ]


def test_a_refused_text_is_told_with_its_place(capsys):
    refused = Refused(Finding("docs:a.md:7 (chunk 2)", FindingKind.INPUT_REFUSED, "9,000 bytes: 400 too\x1blong"))
    assert told(capsys, [refused]) == ["Warning: docs:a.md:7 (chunk 2): 9,000 bytes: 400 too\\x1blong"]


def test_what_goes_as_it_should_is_not_told(capsys):
    assert told(capsys, [Checking(), Started(0, 0), Committing(), Committed(3)]) == []


def test_a_warning_begins_a_line_of_its_own_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress = Progress()
    for event in [Started(4, 2), Embedded(2, 4), Warned("odd"), Embedded(4, 4)]:
        progress(event)
    assert capsys.readouterr().err == "\rEmbedding 2 of 4\nWarning: odd\n\rEmbedding 4 of 4\n"
