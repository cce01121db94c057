"""The crew: however many processes cut, and whatever becomes of them, the plan is the same and nothing stays behind."""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

import steadlith
from steadlith import crew, survey
from steadlith.assembly import Assembly
from steadlith.cli.main import main
from steadlith.crew import Crew
from steadlith_core.errors import AdapterError, DocumentError, UsageError
from steadlith_core.planning.planfile import dump
from steadlith_core.planning.wanted import SourceText, want_all
from steadlith_core.records import Content, DocumentId, Format

TOGETHER = 1 << 13


def processes():
    """Every live process: id -> (parent, session)."""
    found = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, _group, session = place.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it ended meanwhile
            continue
        if state != "Z" or int(parent) == os.getpid():  # a child that nobody waited for counts
            found[int(place.parent.name)] = (int(parent), int(session))
    return found


def children():
    return {pid for pid, (parent, _) in processes().items() if parent == os.getpid()}


@pytest.fixture(autouse=True)
def nobody_left():
    """No test leaves a process behind."""
    before = children()
    yield
    assert children() <= before


@pytest.fixture
def eager(monkeypatch):
    """Helpers start at once and are waited for, and stretches are small."""
    call = crew._Helpers.call

    def waiting(helpers, assembly, count):
        call(helpers, assembly, count)
        while helpers.ready < count and not helpers._failed:
            time.sleep(0.005)

    monkeypatch.setattr(crew._Helpers, "call", waiting)
    monkeypatch.setattr(crew, "ALONE", 0)
    monkeypatch.setattr(survey, "CUT_TOGETHER", TOGETHER)


@pytest.fixture
def started(monkeypatch):
    """The processes that were started since."""
    found = []

    class Counted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            found.append(self.pid)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    return found


@pytest.fixture
def big(site, article):
    """A site with many documents, two of them bad, nothing applied."""
    for number in range(60):
        site.write(f"{number % 7}/{number}.md", article(f"n{number}", sections=6))
    site.write("3/undecodable.md", b"words \xff\xfe words")
    site.write("5/broken.md", "---\na: [\n---\n\nwords\n")
    return site


@pytest.fixture
def assembly(big):
    return Assembly(big.open().config)


def texts(*bodies):
    return [
        SourceText(DocumentId("docs", f"{number}.md"), Format.MARKDOWN, Content(body))
        for number, body in enumerate(bodies)
    ]


@pytest.fixture
def good(article):
    return texts(*(article(f"n{number}").encode() for number in range(9)))


def told(cuts):
    return [(cut.kind, str(cut)) if isinstance(cut, DocumentError) else cut for cut in cuts]


def test_the_plan_is_the_same_for_any_number_of_workers(big, eager, started):
    alone = dump(big.plan())
    assert started == []
    for workers in (2, 3):
        started.clear()
        plan = big.open().plan(workers=workers)
        assert dump(plan) == alone
        assert len(plan.findings) == 2
        assert len(started) == workers - 1


@pytest.mark.parametrize(
    "policy", ['"structural"', '"late"\nparent_max_words = 60\nchild_max_words = 20', '"markdown"', '"cdc"']
)
def test_a_helper_makes_what_this_process_makes(big, eager, good, policy):
    place = big.root / "steadlith.toml"
    settings = '[chunking]\npolicy = "structural"\nmin_tokens = 16\nmax_tokens = 48\n'
    assert settings in place.read_text()
    place.write_text(place.read_text().replace(settings, f"[chunking]\npolicy = {policy}\n"))
    assembly = Assembly(big.open().config)
    with Crew(assembly, 2) as hands:
        hands.give(good)
        assert hands._given[0].answer.result() == want_all(assembly.cutter, good)
        assert list(hands.answers()) == want_all(assembly.cutter, good)


def test_bad_documents_are_told_by_a_helper_as_here(assembly, eager, good):
    given = texts(b"\xff\xfe", *(text.content.body for text in good), b"---\na: [\n---\n\nwords\n", b"a\x00b")
    made = want_all(assembly.cutter, given)
    assert sum(isinstance(each, DocumentError) for each in made) == 3
    expected = told(made)
    with Crew(assembly, 2) as hands:
        hands.give(given)
        assert told(hands._given[0].answer.result()) == expected
        assert told(hands.answers()) == expected


def test_a_document_error_survives_the_trip():
    error = pickle.loads(pickle.dumps(DocumentError("binary", "a NUL")))
    assert (type(error), error.kind, str(error)) == (DocumentError, "binary", "a NUL")


def test_answers_come_in_order_and_are_never_many(assembly, eager, article):
    given = texts(*(article(f"n{number}").encode() for number in range(40)))
    taken = []
    with Crew(assembly, 2) as hands:
        for text in given:
            hands.give([text])
            assert len(hands._given) <= crew.AHEAD * 2
            taken += hands.answers()
        taken += hands.answers(last=True)
    assert taken == want_all(assembly.cutter, given)


@pytest.mark.parametrize("when", ["first", "later"])
def test_a_killed_helper_loses_nothing(big, eager, started, monkeypatch, when):
    alone = dump(big.plan())
    ask, asked = crew._Helpers.ask, []

    def killing(self, given):
        answer = ask(self, given)
        asked.append(answer)
        if when == "later":
            asked[0].result()
        os.kill(started[0], signal.SIGKILL)
        return answer

    monkeypatch.setattr(crew._Helpers, "ask", killing)
    assert dump(big.open().plan(workers=2)) == alone
    assert len(started) == 1
    assert (asked[0].result() is None) is (when == "first")


def test_after_a_death_everything_is_cut_here(assembly, eager, started, good):
    with Crew(assembly, 3) as hands:
        hands.give(good)
        os.kill(started[0], signal.SIGKILL)
        os.kill(started[1], signal.SIGKILL)
        assert list(hands.answers(last=True)) == want_all(assembly.cutter, good)
        if hands._helpers.ready:  # it answered before it died
            hands.give(good)
            assert hands._given[0].answer.result() is None
            assert list(hands.answers()) == want_all(assembly.cutter, good)
        hands.give(good)
        assert hands._given[0].answer is None
        assert list(hands.answers()) == want_all(assembly.cutter, good)
    assert len(started) == 2


def test_a_helper_ignores_ctrl_c(assembly, eager, started, good):
    with Crew(assembly, 2) as hands:
        for _ in range(2):
            hands.give(good)
            assert hands._given[0].answer.result() == want_all(assembly.cutter, good)
            assert list(hands.answers()) == want_all(assembly.cutter, good)
            os.kill(started[0], signal.SIGINT)
        assert hands._helpers.ready == 1


def test_texts_that_cannot_travel_are_cut_here(assembly, eager, good):
    given = [text._replace(content=replace(text.content, attributes=MappingProxyType({}))) for text in good]
    with Crew(assembly, 2) as hands:
        hands.give(given)
        assert hands._given[0].answer.result() is None
        assert list(hands.answers()) == want_all(assembly.cutter, given)


def without_travel(assembly):
    chunking = replace(assembly.config.chunking, settings=MappingProxyType(assembly.config.chunking.settings))
    return Assembly(replace(assembly.config, chunking=chunking))


def of_a_recipe_of_our_own(assembly):
    cutter = assembly.cutter
    assembly.__dict__["cutter"] = replace(cutter, recipe=replace(cutter.recipe, chunker_id="ours/1"))
    return assembly


def of_a_policy_of_our_own(assembly):
    """As if its adapter were known to this process alone."""
    made = Assembly(replace(assembly.config, chunking=replace(assembly.config.chunking, type="ours")))
    made.__dict__["cutter"] = assembly.cutter
    return made


@pytest.mark.parametrize("change", [without_travel, of_a_recipe_of_our_own, of_a_policy_of_our_own])
def test_a_cutter_that_no_helper_can_rebuild_cuts_here(assembly, eager, good, change):
    changed = change(assembly)
    with Crew(changed, 2) as hands:
        hands.give(good)
        assert list(hands.answers(last=True)) == want_all(changed.cutter, good)
        assert hands._helpers.called
        assert hands._helpers.ready == 0


@pytest.mark.parametrize("executable", ["/nowhere/python", "", None, "/bin/true"])
def test_without_an_interpreter_everything_is_cut_here(big, eager, monkeypatch, executable):
    alone = dump(big.plan())
    monkeypatch.setattr(sys, "executable", executable)
    assert dump(big.open().plan(workers=3)) == alone


def test_a_frozen_program_is_not_started_again(big, eager, started, monkeypatch):
    alone = dump(big.plan())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert dump(big.open().plan(workers=3)) == alone
    assert started == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_leaves_no_process(big, eager, started, monkeypatch, error):
    before, running = children(), []

    def failing(_survey, *_rest):
        running.append(children() - before)
        raise error

    monkeypatch.setattr(survey.Survey, "_wanted", failing)
    with pytest.raises((error, AdapterError)):
        big.open().plan(workers=3)
    assert running == [set(started)]
    assert len(started) == 2
    assert children() == before


INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background may have been told to ignore it
from steadlith import crew, survey
from steadlith.cli.main import main

def waiting(*_):
    print("ready", flush=True)
    time.sleep(300)

crew.ALONE, survey.CUT_TOGETHER = 0, 1 << 13
survey.Survey._wanted = waiting
sys.argv = ["steadlith", "plan", "--config", sys.argv[1], "--workers", "3"]
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_whatever_ends_the_command_ends_its_helpers(big, number, code):
    command = [sys.executable, "-c", INTERRUPTED, str(big.root / "steadlith.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        assert run.stdout.readline() == b"ready\n"
        assert sum(session == run.pid for _, session in processes().values()) == 3
        if number == signal.SIGINT:
            os.killpg(run.pid, number)  # as a terminal does
        else:
            run.send_signal(number)
        assert run.wait(60) == code
    until = time.monotonic() + 60
    while any(session == run.pid for _, session in processes().values()):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_by_default_no_process_is_started(big, eager, started):
    plan = big.open().plan()
    big.open().explain("0/0.md")
    big.open().apply(plan)
    assert started == []


def test_few_documents_start_none(big, started):
    big.open().plan(workers=8)
    assert started == []


def test_applying_and_explaining_take_workers_too(big, eager, started):
    plan = big.plan()
    found = big.open().explain("0/0.md", workers=2)
    assert dump(found.plan) == dump(plan)
    assert len(started) == 1
    big.open().apply(plan, workers=2)
    assert len(started) == 2
    assert big.open().verify().ok
    assert big.plan().is_empty


@pytest.mark.parametrize("workers", [0, -1])
def test_somebody_has_to_cut(big, workers):
    with pytest.raises(UsageError, match=f"workers = {workers}"):
        big.open().plan(workers=workers)


def command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["steadlith", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code, capsys.readouterr()


def test_the_command_line_has_the_number(big, eager, started, monkeypatch, capsys):
    config = ["--config", str(big.root / "steadlith.toml")]
    code, alone = command(monkeypatch, capsys, "plan", "--json", "--workers", "1", *config)
    assert (code, started) == (0, [])
    assert command(monkeypatch, capsys, "plan", "--json", "--workers", "2", *config) == (0, alone)
    assert len(started) == 1
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert command(monkeypatch, capsys, "plan", "--json", *config) == (0, alone)
    assert len(started) == 1 + 7
    assert command(monkeypatch, capsys, "apply", "--yes", "--workers", "2", *config)[0] == 0
    assert len(started) == 1 + 7 + 2  # its plan, and for bad documents, which are cut again, its own look
    assert steadlith.open(big.root).verify().ok
    assert command(monkeypatch, capsys, "plan", "--workers", "0", *config)[0] == 64
