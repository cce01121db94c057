"""An embedder refuses one text of many: that one is found, nothing else suffers, and the corpus goes on."""

import math
import re
import shlex
import string
from dataclasses import replace

import pytest
from faults.calls.shop import one_chunk

from steadlith import Look
from steadlith_core.errors import InputRefused, PlanStale
from steadlith_core.events import Warned
from steadlith_core.planning.planfile import dump, load
from steadlith_core.records import DocumentId, FindingKind

WORDS = string.ascii_lowercase[:16]
HOW = "over HTTP, at every place of a batch; the batch is split until it is found"


@pytest.fixture
def filled(shop):
    shop.configure(batch_size=len(WORDS))
    shop.write(*WORDS)
    return shop


def refuse(provider, *words):
    provider.refuses = lambda text: text.split()[0] in words


def found(shop, path):
    hits = shop.open().search("matter", limit=100).hits
    return [hit.text for hit in hits if hit.document.path == path]


@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "named"])
@pytest.mark.parametrize("word", [*WORDS[::5], *(pytest.param(word, marks=pytest.mark.faults) for word in WORDS)])
def test_field_case_32_one_oversized_text_is_found_and_the_others_are_kept(filled, ticking, tried, word, named):
    refuse(filled.provider, word)
    filled.provider.names_refused = named
    told = []
    with pytest.raises(
        InputRefused, match=rf"(?s)refused 1 of 16 texts.*docs:{word}\.txt:1 \(chunk 0\): 1\d\d bytes: 400"
    ) as raised:
        filled.apply(report=told.append)
    assert (raised.value.exit_code, raised.value.documents) == (1, (f"docs:{word}.txt",))
    assert [event.finding.kind for event in told if type(event).__name__ == "Refused"] == [FindingKind.INPUT_REFUSED]
    assert filled.provider.paid.total() == len(filled.provider.paid) == len(WORDS) - 1
    halvings = int(math.log2(len(WORDS)))
    assert len(filled.provider.calls) == 2 + (1 if named else 2 * halvings)
    assert ticking.waited == 0  # there is nothing to wait for
    planned = filled.plan()
    assert (planned.cost.cached, planned.cost.embeddings) == (len(WORDS) - 1, 1)
    assert filled.open().head().generation == 0
    tried("a provider refuses one text of a batch", HOW)


def test_field_case_32_apply_goes_on_without_its_document_and_exits_with_an_error(filled):
    refuse(filled.provider, "d")
    told = filled.run("apply", "--yes", code=1)
    assert "Warning: docs:d.txt:1 (chunk 0)" in told
    assert "the rest was applied; as they were recorded stay docs:d.txt" in told
    head = filled.open().head()
    assert (head.generation, head.documents) == (1, len(WORDS) - 1)
    assert set(filled.provider.paid.values()) == {1}
    refuse(filled.provider)
    assert filled.apply().embedded == 1  # when it is taken, it comes in
    assert filled.is_sound()


def test_what_was_recorded_of_a_document_that_is_held_back_stays(filled):
    filled.apply()
    before = found(filled, "d.txt")
    filled.write_as("d", "enormous")
    filled.write("new")
    refuse(filled.provider, "enormous")
    out = filled.answer("apply", "--yes", "--json", code=1)
    assert out["generation"] == 2
    assert out["held"] == [{"source": "docs", "path": "d.txt"}]
    assert found(filled, "d.txt") == before == [one_chunk("d").strip()]
    assert filled.open().head().documents == len(WORDS) + 1


def test_under_another_model_what_is_recorded_is_refused_too_and_that_ends_it(filled):
    """There is nothing to hold back: the index has one model, and one of its texts cannot be embedded by it."""
    filled.apply()
    filled.configure(batch_size=len(WORDS), embedding="model = 2")
    refuse(filled.provider, "d")
    told = filled.run("apply", "--yes", "--allow-model-change", code=1)
    assert told.count("refused 1 of") == 1
    assert filled.open()._assembly.embedder_identity.model_id == "http/2"
    head = filled.open().head()
    assert (head.generation, head.recipe.spaces[0].model_id) == (1, "http/1")


def test_names_in_the_way_out_can_be_typed_as_they_are(filled):
    filled.write_as("a name; with 'odd' parts", "enormous")
    refuse(filled.provider, "enormous")
    with pytest.raises(InputRefused) as raised:
        filled.apply()
    command = re.search(r"\(steadlith (plan --hold .*)\), or", str(raised.value))[1]
    assert shlex.split(command)[2:] == list(raised.value.documents)
    filled.run(*shlex.split(command))


def test_a_saved_plan_is_carried_out_whole_or_not_at_all(filled):
    refuse(filled.provider, "d", "e")
    file = filled.root / "plan.json"
    filled.run("plan", "--out", str(file))
    told = filled.run("apply", str(file), code=1)
    assert "refused 2 of 16 texts, so nothing was applied" in told
    assert "steadlith plan --hold docs:d.txt --hold docs:e.txt" in told
    assert filled.open().head().generation == 0
    filled.run("plan", "--hold", "docs:d.txt", "--hold", "e.txt", "--out", str(file))
    planned = load(file.read_text("utf-8"))
    assert planned.held == (DocumentId("docs", "d.txt"), DocumentId("docs", "e.txt"))
    assert [(finding.kind, finding.place) for finding in planned.findings] == [
        (FindingKind.HELD, "docs:d.txt"),
        (FindingKind.HELD, "docs:e.txt"),
    ]
    filled.run("apply", str(file))
    assert filled.open().head().documents == len(WORDS) - 2


def test_what_a_plan_file_says_of_held_documents_is_a_claim(filled):
    """It lets in nothing that the plan does not name, and keeps out nothing that it does."""
    d = DocumentId("docs", "d.txt")
    planned = filled.plan(Look(held=(d,)))
    assert load(dump(planned)) == planned
    with pytest.raises(PlanStale, match=r"docs:d\.txt: the plan has steps for it, and there are none to take now"):
        filled.apply(replace(filled.plan(), held=(d,)))
    told = []
    done = filled.apply(replace(planned, held=()), report=told.append)
    assert done.head.corpus_root == planned.target.corpus_root
    assert Warned("docs:d.txt changed since the plan was made; it is left to the next plan") in told


def test_where_everything_is_refused_it_is_not_the_texts(filled):
    """A wrong setting refuses whatever is asked for: that is told after a few calls, and not by a document."""
    filled.configure(batch_size=2)
    filled.write(*(f"more{number}" for number in range(40)))
    refuse(filled.provider, *WORDS, *(f"more{number}" for number in range(40)))
    told = filled.run("apply", "--yes", code=1)
    assert "refused 16 of 56 texts" in told
    assert "40 were not asked for any more" in told
    assert len(filled.provider.calls) < 40
    assert filled.open().head().generation == 0
