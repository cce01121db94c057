"""Plans as arrows between corpora: none from a corpus to itself, the whole way from one to another, and two in a row.

The oracle carries out a plan *file*, read as plain JSON, on a dictionary of numbered occurrences. It knows what
docs/plan.md says of the steps and nothing of the code that made them.
"""

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steadlith_core.digest import hash_fields
from steadlith_core.planning import diff, matching
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.planfile import dump
from steadlith_core.state.roots import sources_root
from steadlith_core.state.trie import document_key

PLACES = ("a.md", "b.md", "c/d.md", "c/e.md", "c/f/g.md", "h.md")
PLACING = ("add", "move", "reembed", "rekey")
CONTINUING = ("move", "reembed", "rekey")

few = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

texts = st.lists(st.sampled_from("abcdefgh"), max_size=7)
parts = st.tuples(
    texts,
    st.sampled_from(["", "", "", "t"]),  # a title that retrieval can show
    st.sampled_from([(), (), ("Part",)]),  # the headings above
    st.sampled_from(["", "", "\r"]),  # what only the source's bytes tell
    st.integers(0, 3),  # how much of it is a family of parts
)
corpora = st.dictionaries(st.sampled_from(PLACES), parts, max_size=len(PLACES))
entries = st.lists(
    st.sampled_from([("docs:c/", "docs:k/"), ("docs:a.md", "docs:h.md"), ("docs:c/d.md", "docs:b.md")]),
    max_size=2,
    unique=True,
)
RECIPES = {
    "same": {},
    "chunker": {"chunker_params_hash": hash_fields("params", "q")},
    "normalizer": {"normalizer_id": "text/2"},
    "template": {"template_id": "breadcrumb/0"},
    "model": {"spaces": "model/2"},
}
changes = st.sampled_from(["same", "same", *RECIPES])


@contextmanager
def capped():
    """Both shortcuts of the matching at once: no pair of documents, no exact comparison of a gap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "MAX_PAIRS", 1)
        patch.setattr(diff, "MAX_PAIRS", 1)
        yield


@pytest.fixture(params=["exact", "capped"])
def matched(request):
    if request.param == "exact":
        yield
        return
    with capped():
        yield


def recipe(build, change="same"):
    values = dict(RECIPES[change])
    return build.recipe(**{**values, "spaces": (build.space("model/2"),)} if "spaces" in values else values)


def documents(build, corpus, how):
    """The wanted documents of a drawn corpus; the first `family` texts stand below a parent that is not embedded."""
    made = []
    for path, (row, title, headings, noise, family) in corpus.items():
        size = min(family, len(row))
        above = ["".join(row[:size])] if size else []
        tree = ([(-1, False)] if size else []) + [(0, True)] * size + [(-1, True)] * (len(row) - size)
        source = repr((row, title, headings, noise, size))
        made.append(
            build.wanted(
                path, [*above, *row], how, metadata={"title": title}, headings=headings, tree=tree, source=source
            )
        )
    return made


def keys(corpus):
    """The vectors that a corpus needs."""
    return {chunk.vector_key for document in corpus for chunk in document.chunks if chunk.vector_key is not None}


class Model:
    """What an index holds: documents by path, each a list of (occurrence, chunk hash), and who was numbered last."""

    def __init__(self, world):
        self.documents = {
            id_.path: [(row.occurrence, str(row.chunk_hash)) for row in rows] for id_, rows in world.items()
        }
        self.last = max((number for rows in self.documents.values() for number, _ in rows), default=0)
        self.paid = Counter()

    def apply(self, plan):
        """Carry out a plan file; every statement that it makes about what is there is held against what is."""
        before = {path: list(rows) for path, rows in self.documents.items()}
        fates = {change["document"]["path"]: change["fate"] for change in plan["changes"]}
        for change in plan["changes"]:
            for origin in (step["origin"] for step in change["steps"] if step.get("origin")):
                # Between two documents that stay nothing moves.
                assert change["fate"] == "added" or fates[origin["path"]] == "removed"
        taken = self._taken(before, plan["changes"], same_recipe=not plan["recipe_changed"])
        for change in plan["changes"]:
            path, steps = change["document"]["path"], change["steps"]
            assert (change["fate"] == "added") == (path not in before)
            if change["fate"] == "removed":
                assert {step["kind"] for step in steps} <= {"delete"}
                assert all((path, at) in taken for at in range(len(before[path]))), "an occurrence without a fate"
                del self.documents[path]
            else:
                self.documents[path] = self._after(before, change, taken)
        return self

    @staticmethod
    def _taken(before, changes, *, same_recipe):
        """Which places lose their occurrence to a step of this plan: each at most once.

        A `reembed` has one chunk hash, the new one: where model and chunker change together the old one is not told.
        """
        taken = Counter()
        for change in changes:
            for step in change["steps"]:
                if step["kind"] == "delete":
                    place = change["document"]["path"], step["old_position"]
                    assert before[place[0]][place[1]][1] == step["chunk_hash"]
                elif step["kind"] in CONTINUING:
                    place = (step["origin"] or change["document"])["path"], step["old_position"]
                    if step["kind"] != "reembed" or same_recipe:
                        assert before[place[0]][place[1]][1] == step.get("old_chunk_hash", step["chunk_hash"])
                else:
                    continue
                taken[place] += 1
        assert set(taken.values()) <= {1}, "an occurrence goes on twice"
        return taken

    def _after(self, before, change, taken):
        path, steps = change["document"]["path"], change["steps"]
        placed = {step["position"]: step for step in steps if step["kind"] in PLACING}
        stay = [row for at, row in enumerate(before.get(path, [])) if (path, at) not in taken]
        updated = sum(step["kind"] == "update" and step["position"] is not None for step in steps)
        assert len(stay) == change["kept"] + updated
        after, staying = [], iter(stay)
        for position in range(len(stay) + len(placed)):
            step = placed.pop(position, None)
            after.append(next(staying) if step is None else self._placed(before, path, step))
        assert not placed, "a position beyond the document's end"
        return after

    def _placed(self, before, path, step):
        self.paid[step.get("vector_key")] += bool(step.get("paid"))
        if step["kind"] == "add":
            self.last += 1
            return self.last, step["chunk_hash"]
        origin = step["origin"]["path"] if step["origin"] else path
        return before[origin][step["old_position"]][0], step["chunk_hash"]

    @property
    def content(self):
        return {path: [name for _, name in rows] for path, rows in self.documents.items()}

    @property
    def numbers(self):
        return {path: [number for number, _ in rows] for path, rows in self.documents.items()}


def content(corpus):
    return {document.id.path: [str(chunk.chunk_hash) for chunk in document.chunks] for document in corpus}


def planned(build, before, after, *, how, now, available=(), moves=()):
    world = replace(build.world(before, after, how=how, now=now, available=available), moves=tuple(moves))
    return make_plan(world, build.terms())


def start(build, before, how):
    return Model(build.committed(before, how)[2])


def read(made):
    return json.loads(dump(made.plan))


@few
@given(corpora)
def test_from_a_corpus_to_itself_there_is_nothing_to_do(build, corpus):
    how = recipe(build)
    before = documents(build, corpus, how)
    made = planned(build, before, documents(build, dict(reversed(corpus.items())), how), how=how, now=how)
    plan = read(made)
    assert made.plan.is_empty
    assert plan["changes"] == []
    same = ("corpus_root", "state_root", "sources_root") if before else ("corpus_root", "sources_root")
    assert [plan["base"][root] for root in same] == [plan["target"][root] for root in same]
    size = plan["target"]["documents"], plan["target"]["chunks"]
    assert size == (len(before), sum(len(document.chunks) for document in before))
    rows = made.writes
    assert not any(list(made()) for made in (rows.texts, rows.entries, rows.vectors, rows.versions, rows.respans))
    assert not any((rows.closed, rows.nodes))
    assert start(build, before, how).apply(plan).content == content(before)


@pytest.mark.usefixtures("matched")
@few
@given(corpora, corpora, changes, entries)
def test_carrying_out_the_file_makes_the_other_corpus_and_every_number_survives_as_the_writes_have_it(
    build, first, second, change, moves
):
    how, now = recipe(build), recipe(build, change)
    before, after = documents(build, first, how), documents(build, second, now)
    made = planned(build, before, after, how=how, now=now, available=keys(before), moves=moves)
    model = start(build, before, how)
    known, last = model.numbers, model.last
    model.apply(read(made))
    assert model.content == content(after)
    # The numbers: each at most once, none invented but for additions, and where the rows put them.
    numbers = Counter(number for row in model.numbers.values() for number in row)
    assert set(numbers.values()) <= {1}
    for version in made.writes.versions():
        written = [placement.occurrence for placement in version.placements]
        assert [number if number <= last else None for number in model.numbers[version.id.path]] == written
    rewritten = {version.id.path for version in made.writes.versions()}
    assert all(model.numbers[path] == known[path] for path in model.numbers.keys() - rewritten)
    assert {id_.path for id_ in made.writes.closed} == known.keys() - model.numbers.keys()
    # The roots are those of a first commit of the other corpus; what is paid is what nobody has.
    head = build.committed(after, now)[0]
    if after:
        assert (made.plan.target.corpus_root, made.plan.target.state_root) == (head.corpus_root, head.state_root)
    assert {key for key, count in model.paid.items() if count} <= {str(key) for key in keys(after) - keys(before)}
    assert set(model.paid.values()) <= {0, 1}


@few
@given(corpora, corpora, changes)
def test_the_way_back_restores_the_roots_and_costs_nothing(build, first, second, change):
    how, now = recipe(build), recipe(build, change)
    before, after = documents(build, first, how), documents(build, second, now)
    there = planned(build, before, after, how=how, now=now, available=keys(before))
    back = planned(build, after, before, how=now, now=how, available=keys(before) | keys(after))
    assert back.plan.cost.embeddings == 0
    if before and after:
        assert back.plan.target.state_root == there.plan.base.state_root
        assert back.plan.target.sources_root == there.plan.base.sources_root
    model = start(build, before, how).apply(read(there)).apply(read(back))
    assert model.content == content(before)


@pytest.mark.usefixtures("matched")
@few
@given(corpora, corpora, corpora, changes, changes)
def test_two_plans_in_a_row_do_what_one_does_and_nothing_is_paid_twice(build, first, second, third, change, again):
    a, b, c = recipe(build), recipe(build, change), recipe(build, again)
    one, two, three = documents(build, first, a), documents(build, second, b), documents(build, third, c)
    straight = planned(build, one, three, how=a, now=c, available=keys(one))
    to_two = planned(build, one, two, how=a, now=b, available=keys(one))
    to_three = planned(build, two, three, how=b, now=c, available=keys(one) | keys(two))
    direct = start(build, one, a).apply(read(straight))
    halfway = start(build, one, a).apply(read(to_two))
    paid_halfway = +halfway.paid
    composed = halfway.apply(read(to_three))
    assert direct.content == composed.content == content(three)
    if two:
        assert straight.plan.target == to_three.plan.target
    assert set(composed.paid.values()) <= {0, 1}
    assert +direct.paid <= +composed.paid
    if (change, again) == ("same", "same"):
        assert (+direct.paid).keys() == {str(key) for key in keys(three) - keys(one)}
        assert paid_halfway.keys() == {str(key) for key in keys(two) - keys(one)}
        assert (+composed.paid).keys() == {str(key) for key in (keys(two) | keys(three)) - keys(one)}
    # What stands once in every corpus, and in the same document, is the same occurrence on both ways.
    for path, row in agreeing(one, two, three):
        assert [composed.numbers[path][at] for at in row] == [direct.numbers[path][at] for at in row]


def agreeing(*corpora_):
    """(path, positions in the last corpus) of texts that each corpus has once, in one and the same document."""
    held = [
        Counter((chunk.text.text_hash, chunk.entry.embed) for document in corpus for chunk in document.chunks)
        for corpus in corpora_
    ]
    places = [
        {
            (document.id.path, (chunk.text.text_hash, chunk.entry.embed)): position
            for document in corpus
            for position, chunk in enumerate(document.chunks)
        }
        for corpus in corpora_
    ]
    for path in sorted({path for path, _ in places[-1]}):
        yield (
            path,
            [
                position
                for (found, key), position in places[-1].items()
                if found == path and all((path, key) in each for each in places) and all(h[key] == 1 for h in held)
            ],
        )


@few
@given(corpora, st.sampled_from([name for name in RECIPES if name != "same"]))
def test_another_recipe_over_the_same_corpus_keeps_every_number(build, corpus, change):
    how, now = recipe(build), recipe(build, change)
    before, after = documents(build, corpus, how), documents(build, corpus, now)
    made = planned(build, before, after, how=how, now=now, available=keys(before))
    model = start(build, before, how)
    numbers = model.numbers
    model.apply(read(made))
    assert model.numbers == numbers
    assert model.content == content(after)
    assert made.plan.recipe_changed is bool(before)  # an index of no documents has no recipe yet
    assert made.plan.counts["add"] == made.plan.counts["delete"] == 0
    assert made.plan.cost.embeddings == len(keys(after) - keys(before))


@pytest.mark.usefixtures("matched")
@few
@given(corpora, st.permutations(PLACES))
def test_a_corpus_under_other_names_costs_nothing_and_deletes_nothing(build, corpus, names):
    how = recipe(build)
    to = {old: f"moved/{new}" for old, new in zip(PLACES, names, strict=True)}
    before = documents(build, corpus, how)
    after = documents(build, {to[path]: row for path, row in corpus.items()}, how)
    made = planned(build, before, after, how=how, now=how, available=())
    model = start(build, before, how)
    numbers = sorted(number for row in model.numbers.values() for number in row)
    model.apply(read(made))
    assert model.content == content(after)
    assert sorted(number for row in model.numbers.values() for number in row) == numbers
    assert (made.plan.counts["add"], made.plan.counts["delete"], made.plan.cost.embeddings) == (0, 0, 0)


@few
@given(corpora, corpora)
def test_the_roots_do_not_depend_on_the_way_that_the_trie_was_moved(build, first, second):
    """The incremental roots against those of a trie that is built from the documents alone."""
    from steadlith_core.rows import TrieRow
    from steadlith_core.state.moving import build as build_trie

    how = recipe(build)
    before, after = documents(build, first, how), documents(build, second, how)
    made = planned(build, before, after, how=how, now=how)
    rows = [TrieRow(document_key(each.id), each.root, each.source_digest) for each in after]
    assert made.plan.target.sources_root == sources_root(build_trie(rows).after)
