"""A long random life: whatever is done to the folder, the files and the runs, the index is what its sources say.

The model is a dictionary: path -> the bytes that the index was made from. Every expectation comes from it, from the
bytes on disk and from the rules of docs/plan.md and docs/apply.md, never from what the index says about itself.
"""

import os
import re
import shutil
import sys
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count, pairwise

import apsw
import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from steadlith import hands
from steadlith.observe import Look
from steadlith_core.applying import effects as fx
from steadlith_core.errors import GuardRefused, PlanRejected, PlanStale
from steadlith_core.planning.plan import Fate
from steadlith_core.planning.planfile import dump, load, plan_digest
from steadlith_core.planning.wanted import SourceText, want
from steadlith_core.records import Content, DocumentId, DriftKind, FindingKind, Format, Level
from steadlith_core.state.identity import source_digest
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.trie import document_key, trie_root
from steadlith_core.text.canonical import fragment

EVERYTHING = ("--allow-removals", "--allow-empty", "--allow-model-change", "--allow-cost")
FORMATS = {
    "a.md": Format.MARKDOWN,
    "b.md": Format.MARKDOWN,
    "sub/c.md": Format.MARKDOWN,
    "sub/d.txt": Format.TEXT,
    "sub/deep/e.rst": Format.RST,
    "ä.md": Format.MARKDOWN,
    "文.txt": Format.TEXT,
}
BAD = b"# word1\n\nno text \xff at all\n"
SIZES, TEMPLATES = ("late", 40, 25, 24), ("breadcrumb", "plain")
USUAL_CUTTING = 'policy = "structural"\nmin_tokens = 16\nmax_tokens = 48'
LAST_EFFECT = 16
OF_ANOTHER_INDEX = {DriftKind.INDEX_MISSING, DriftKind.INDEX_REPLACED, DriftKind.INDEX_OLDER}
TAMPERED = {
    "text": (
        "SELECT DISTINCT text FROM entry WHERE live = 1 ORDER BY text",
        "UPDATE text SET body = body || ' and a lie' WHERE text = ?",
    ),
    "vector": (
        "SELECT entry FROM entry JOIN vector USING (entry) WHERE live = 1 ORDER BY entry",
        "DELETE FROM vector WHERE entry = ?",
    ),
}
"""What is changed in the index: which rows there are, and what is done to one."""

words = st.integers(0, 60).map("word{}".format)
paths = st.sampled_from(sorted(FORMATS))
sentences = st.lists(words, min_size=1, max_size=14).map(lambda found: " ".join(found) + ".")
blocks = st.one_of(
    sentences,
    sentences,
    st.builds("{} {}".format, st.sampled_from(["#", "##", "###"]), words),
    st.lists(sentences, min_size=2, max_size=4).map("\n".join),
    st.lists(words, min_size=2, max_size=6).map(lambda found: "\n".join(f"- {word}" for word in found)),
    st.lists(words, min_size=1, max_size=5).map(lambda found: "```\n" + "\n\n    ".join(found) + "\n```"),
    st.builds("cafe\u0301 {}  \t\n\u1112\u1161\u11ab {}".format, words, words),
    st.sampled_from(["数据库事务必须满足原子性。" * 4, "---", "\n", "| a | b |\n|---|---|\n| word1 | word2 |"]),
)
documents = st.builds(
    lambda front, body, end: "\n\n".join(front + body) + end,
    st.sampled_from([[], [], [], ["---\ntitle: A fixed title\ntags: x\n---"]]),
    st.lists(blocks, max_size=8),
    st.sampled_from(["\n", "", "\n\n\n", "  "]),
)


class Crash(BaseException):
    """What nothing catches."""


def existing(machine_paths):
    return st.runner().flatmap(lambda life: st.sampled_from(sorted(machine_paths(life))))


def needs(machine_paths):
    return precondition(lambda life: bool(machine_paths(life)))


def on_disk(life):
    return life.disk


def readable(life):
    return life.disk.keys() - life.bad


def unreadable(life):
    return life.bad


def paragraphs(content):
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n\n")


class Life(RuleBasedStateMachine):
    """One folder and its index from birth to the end, with everything that may happen between."""

    def __init__(self, make_site):
        super().__init__()
        self.make_site = make_site
        self.site = make_site(embedding="batch_size = 2")
        self.disk = {}  # path -> bytes now
        self.bad = set()  # paths whose bytes are no text now
        self.indexed = {}  # path -> bytes that the index was made from
        self.sizes, self.template = SIZES[-1], TEMPLATES[-1]  # as configured: a maximum in tokens, or parents and parts
        self.recipe = None  # (sizes, template) of the last commit
        self.cut_by = {}  # path -> the sizes that an indexed document was cut by
        self.unsure = set()  # paths that could not be read when the sizes changed: to be cut anew when they can
        self.cached, self.held = set(), set()  # model inputs that were paid for, and where their vectors are
        self.saved = []  # plans as files, each with the moment it was made at
        self.moment = 0
        self.remembered = []  # fingerprint files as applies left them
        self.cutters = {}
        for self.template in TEMPLATES:
            for self.sizes in SIZES:
                self.configure()

    @invariant()
    def count_what_happens(self):
        next(self.happened)

    # ------------------------------------------------------------------------------------------ the folder

    def configure(self):
        self.moment += 1
        self.site.configure(embedding=f'batch_size = 2\ntemplate = "{self.template}"')
        place = self.site.root / "steadlith.toml"
        structural = f'policy = "structural"\nmin_tokens = 8\nmax_tokens = {self.sizes}'
        cutting = 'policy = "late"\nchild_max_words = 6' if self.sizes == "late" else structural
        text = place.read_text("utf-8")
        assert USUAL_CUTTING in text
        place.write_text(text.replace(USUAL_CUTTING, cutting), "utf-8")
        self.cutters[self.sizes, self.template] = self.site.open()._assembly.cutter

    def put(self, path, content):
        self.moment += 1
        self.bad.discard(path)
        self.disk[path] = content if isinstance(content, bytes) else content.encode("utf-8")
        self.site.write(path, self.disk[path])

    def take(self, path):
        self.moment += 1
        (self.site.docs / path).unlink()
        self.bad.discard(path)
        return self.disk.pop(path)

    @initialize(first=documents, second=documents)
    def be_born(self, first, second):
        self.put("a.md", first)
        self.put("b.md", second)
        self.apply()

    @rule(path=paths, content=documents)
    def write(self, path, content):
        self.put(path, content)

    @needs(readable)
    @rule(path=existing(readable), block=blocks, at=st.integers(0, 9), insert=st.booleans())
    def edit(self, path, block, at, insert):
        parts = paragraphs(self.disk[path])
        at %= len(parts)
        parts[at : at if insert else at + 1] = [block]
        self.put(path, "\n\n".join(parts))

    @needs(readable)
    @rule(path=existing(readable), block=blocks)
    def append(self, path, block):
        self.put(path, self.disk[path] + f"\n\n{block}\n".encode())

    @needs(readable)
    @rule(path=existing(readable), left=st.integers(0, 9), right=st.integers(0, 9))
    def swap_two_paragraphs(self, path, left, right):
        parts = paragraphs(self.disk[path])
        left, right = left % len(parts), right % len(parts)
        parts[left], parts[right] = parts[right], parts[left]
        self.put(path, "\n\n".join(parts))

    @needs(readable)
    @rule(path=existing(readable), end=st.sampled_from(["\n", "\r\n", "\r", " \t\n"]), bom=st.booleans())
    def convert_line_ends(self, path, end, bom):
        text = "\n\n".join(paragraphs(self.disk[path])).replace("\n", end)
        self.put(path, text.encode("utf-8-sig" if bom else "utf-8"))

    @needs(on_disk)
    @rule(path=existing(on_disk))
    def delete(self, path):
        self.take(path)

    @needs(on_disk)
    @rule(path=existing(on_disk), to=paths)
    def rename(self, path, to):
        was_bad = path in self.bad
        self.put(to, self.take(path))
        if was_bad:
            self.bad.add(to)

    @needs(readable)
    @rule(path=existing(readable), to=paths)
    def duplicate(self, path, to):
        self.put(to, self.disk[path])

    @needs(readable)
    @rule(path=existing(readable), to=paths, at=st.integers(0, 9))
    def split(self, path, to, at):
        parts = paragraphs(self.disk[path])
        at %= len(parts) + 1
        self.put(path, "\n\n".join(parts[:at]))
        self.put(to, "\n\n".join(parts[at:]))

    @needs(on_disk)
    @rule(path=existing(on_disk), when=st.integers(0, 2_000_000_000))
    def touch(self, path, when):
        os.utime(self.site.docs / path, (when, when))

    @rule(when=st.one_of(st.none(), st.integers(0, 2_000_000_000)))
    def touch_everything(self, when):
        with self.same_plan():
            for path in self.disk:
                os.utime(self.site.docs / path, None if when is None else (when, when))

    @needs(on_disk)
    @rule(path=existing(on_disk), mode=st.sampled_from([0o400, 0o644, 0o755]))
    def chmod(self, path, mode):
        with self.same_plan():
            (self.site.docs / path).chmod(mode)

    @needs(on_disk)
    @rule(path=existing(on_disk))
    def write_the_same_again(self, path):
        with self.same_plan():
            place = self.site.docs / path
            place.unlink()
            place.write_bytes(self.disk[path])

    @needs(lambda life: life.indexed)
    @rule(path=st.runner().flatmap(lambda life: st.sampled_from(sorted(life.indexed))))
    def put_back(self, path):
        """The bytes that the index has, whatever stands there."""
        self.put(path, self.indexed[path])

    @needs(readable)
    @rule(path=existing(readable))
    def forge(self, path):
        """Other bytes of the same size and the same time."""
        was = (self.site.docs / path).stat()
        self.put(path, self.disk[path].swapcase())
        os.utime(self.site.docs / path, ns=(was.st_atime_ns, was.st_mtime_ns))

    @needs(lambda life: len(readable(life)) > 1)
    @rule(paths=st.runner().flatmap(lambda life: st.permutations(sorted(readable(life)))))
    def swap_two_files(self, paths):
        one, other = (self.site.docs / path for path in paths[:2])
        self.moment += 1
        aside = self.site.root / "aside"
        one.rename(aside)
        other.rename(one)
        aside.rename(other)
        self.disk[paths[0]], self.disk[paths[1]] = self.disk[paths[1]], self.disk[paths[0]]

    @needs(on_disk)
    @rule(path=existing(on_disk))
    def spoil(self, path):
        self.put(path, BAD)
        self.bad.add(path)

    @needs(unreadable)
    @rule(path=existing(unreadable), content=documents)
    def heal(self, path, content):
        self.put(path, self.indexed.get(path, content))

    @rule(sizes=st.sampled_from(SIZES))
    def change_sizes(self, sizes):
        self.sizes = sizes
        self.configure()

    @rule(template=st.sampled_from(TEMPLATES))
    def change_template(self, template):
        self.template = template
        self.configure()

    @rule()
    def lose_the_index(self):
        for path in (self.site.root / ".steadlith").glob("index*"):
            path.unlink()
        self.forget()

    def forget(self):
        """The model of an index that is not there."""
        self.moment += 1
        self.indexed, self.cut_by, self.recipe = {}, {}, None
        self.unsure, self.held = set(), set()

    @rule()
    def lose_the_cache(self):
        self.moment += 1
        for path in (self.site.root / ".steadlith").glob("cache*"):
            path.unlink()
        self.cached = set()

    # ------------------------------------------------------------------------------ the fingerprint file

    @property
    def index_file(self):
        return self.site.root / ".steadlith" / "index.sqlite3"

    @property
    def fingerprint_file(self):
        return self.site.root / ".steadlith" / "steadlith.fingerprints"

    @contextmanager
    def same_plan(self):
        """Whatever is done here decides nothing, but for what only the fingerprint file can tell of the index.

        Nor is any plan of before made stale by it: `moment` stays.
        """
        before = replace(self.site.plan(), drift=())
        yield
        assert dump(replace(self.site.plan(), drift=())) == dump(before)

    @rule()
    def lose_the_fingerprints(self):
        with self.same_plan():
            self.fingerprint_file.unlink(missing_ok=True)

    @needs(lambda life: life.remembered)
    @rule(number=st.integers(0, 9))
    def restore_older_fingerprints(self, number):
        with self.same_plan():
            self.fingerprint_file.write_bytes(self.remembered[-1 - number % len(self.remembered)])

    @needs(lambda life: life.remembered)
    @rule(at=st.integers(0, 10_000))
    def damage_the_fingerprints(self, at):
        with self.same_plan():
            content = bytearray(self.remembered[-1])
            content[at % len(content)] ^= 0x10
            self.fingerprint_file.write_bytes(content)

    # ------------------------------------------------------------------------------------------- the runs

    @rule()
    def plan(self):
        before = self.site.files()
        planned = self.site.plan()
        assert dump(planned) == dump(self.site.plan())
        assert self.site.files() == before
        assert {change.id.path for change in planned.changes} == self.due()
        bad = {f.place.removeprefix("docs:") for f in planned.findings if f.kind is FindingKind.UNDECODABLE}
        assert bad == self.bad
        self.saved.append((dump(planned), self.moment))

    @rule(level=st.sampled_from(Level))
    def plan_by_reading_all(self, level):
        look = Look(level=level)
        believing = self.site.open().plan(look)
        reading = self.site.open().plan(look, stat_cache=False)
        assert dump(replace(reading, drift=())) == dump(replace(believing, drift=()))
        # What the last apply left is written in the file alone: whether this index is that one.
        assert {drift.kind for drift in set(believing.drift) ^ set(reading.drift)} <= OF_ANOTHER_INDEX

    @rule(stat_cache=st.booleans())
    def apply(self, stat_cache=True):
        planned = self.site.plan()
        before = self.site.open().head()
        with self.watched() as paid:
            done = self.site.apply(planned, allow=EVERYTHING, stat_cache=stat_cache)
        assert done.embedded == planned.cost.embeddings == len(paid)
        if planned.is_empty:
            assert done.head == before
        self.settle(planned)
        assert self.site.plan().is_empty
        assert not self.due()

    @needs(lambda life: life.saved)
    @rule(number=st.integers(0, 99), stat_cache=st.booleans())
    def apply_a_saved_plan(self, number, stat_cache):
        text, moment = self.saved[-1 - number % len(self.saved)]
        planned = load(text)
        before = self.site.open().head()
        with self.watched():
            try:
                done = self.site.apply(planned, allow=EVERYTHING, stat_cache=stat_cache)
            except (PlanStale, PlanRejected):
                assert moment != self.moment
                assert self.site.open().head() == before
                self.check()
                return
        if done.already:
            assert done.head == before
            assert before.plan_digest == plan_digest(planned)
            self.check()
            return
        assert done.head.generation == before.generation + (not planned.is_empty)
        self.settle(planned)

    @rule(number=st.integers(1, LAST_EFFECT), where=st.sampled_from(["before", "after", "writing"]))
    def crash(self, number, where):
        planned = self.site.plan()
        before = self.site.open().head()
        with self.watched(crash_at=(number, where)), suppress(Crash):
            self.site.apply(planned, allow=EVERYTHING)
        after = self.site.open().head()
        if after == before:
            self.check()
        else:
            assert after.generation == before.generation + 1
            self.settle(planned)

    @rule(keep=st.integers(1, 3))
    def compact(self, keep):
        with self.same_plan():
            before = self.site.open().head()
            self.site.open().compact(keep=keep)
            assert self.site.open().head() == before
            assert len(self.site.open().history()) <= keep
        self.check()

    @needs(lambda life: life.disk and not life.bad)
    @rule(number=st.integers(0, 99), row=st.sampled_from(sorted(TAMPERED)))
    def tamper(self, number, row):
        """A row of the committed state is changed behind our back: found by a full look, and put right."""
        self.apply()
        rows, change = TAMPERED[row]
        connection = apsw.Connection(str(self.index_file))
        found = [found for (found,) in connection.execute(rows)]
        if found:
            connection.execute(change, (found[number % len(found)],)).fetchall()
        connection.close()
        if not found:
            return
        self.moment += 1
        assert not self.site.open().verify().ok
        planned = self.site.open().plan(Look(Level.FULL))
        assert planned.drift
        self.held = set()  # what the index has lost and the cache does not have may be paid for again
        with self.watched() as paid:
            done = self.site.apply(planned, allow=EVERYTHING)
        assert done.embedded == planned.cost.embeddings == len(paid)
        self.settle(planned)
        assert self.site.open().plan(Look(Level.FULL)).is_empty

    @needs(lambda life: life.recipe)
    @rule(share=st.integers(5, 95))
    def corrupt(self, share):
        """The file is cut off: its plan is a rebuild, which somebody has to allow."""
        os.truncate(self.index_file, self.index_file.stat().st_size * share // 100)
        self.forget()
        planned = self.site.plan()
        assert DriftKind.INDEX_DAMAGED in {drift.kind for drift in planned.drift}
        with pytest.raises(GuardRefused):
            self.site.apply(planned, allow=EVERYTHING)
        with self.watched() as paid:
            done = self.site.apply(planned, allow=(*EVERYTHING, "--allow-rebuild"))
        assert done.embedded == len(paid)
        self.settle(planned)

    @needs(lambda life: life.indexed)
    @rule()
    def search(self):
        holders = {}
        embedded = {(path, chunk.span) for path in self.indexed for chunk in self.cut(path).chunks if chunk.entry.embed}
        assert {(hit.document.path, hit.span) for hit in self.site.hits("word1", limit=200)} <= embedded
        for path, content in self.indexed.items():
            for word in set(re.findall(r"word\d+", content.decode("utf-8").lower())):
                holders.setdefault(word, set()).add(path)
        for word, (path,) in sorted((word, found) for word, found in holders.items() if len(found) == 1)[:3]:
            # A chunk that is merely nearest scores 1, as one does that alone has the word: it may tie, not win.
            found = self.site.hits(word, limit=200)
            assert {hit.document.path for hit in found if hit.lexical is not None} == {path}
            assert found[0].score == max(hit.score for hit in found if hit.document.path == path)

    @contextmanager
    def watched(self, crash_at=None):
        """Keep account of every input that is paid for, and die where it is asked for."""
        paid, batches, seen = [], {}, count(1)
        perform, write = hands.Hands.perform, hands.Hands._write

        def watching(own, effect):
            number = next(seen)
            if crash_at == (number, "before"):
                raise Crash
            if isinstance(effect, fx.Embed):
                batches[effect.batch] = effect.texts
                again = set(effect.texts) & (self.cached | self.held | set(paid))
                assert not again, f"paid twice: {sorted(again)}"
                assert len(set(effect.texts)) == len(effect.texts)
                paid.extend(effect.texts)
            outcome = perform(own, effect)
            if isinstance(outcome, fx.Kept):
                self.cached.update(batches[outcome.batch])
            if crash_at == (number, "after"):
                raise Crash
            return outcome

        def writing(own, transaction, rows):
            write(own, transaction, rows)
            if crash_at is not None and crash_at[1] == "writing":
                raise Crash

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hands.Hands, "perform", watching)
            patch.setattr(hands.Hands, "_write", writing)
            yield paid

    # ------------------------------------------------------------------------------------------ the model

    def due(self):
        """The documents that a plan must name now."""
        due = {path for path in readable(self) if self.indexed.get(path) != self.disk[path]}
        due |= self.indexed.keys() - self.disk.keys()
        if self.recipe is None:
            return due
        if self.recipe != (self.sizes, self.template):
            due |= {path for path in self.indexed if self.cut(path).chunks}
            due |= self.bad & self.indexed.keys() if self.recipe[0] != self.sizes else set()
        return due | (self.unsure - self.bad)

    def cut(self, path):
        """A document as the index must have it."""
        how = self.cutters[self.cut_by[path], self.recipe[1]]
        return want(how, SourceText(DocumentId("docs", path), FORMATS[path], Content(self.indexed[path])))[0]

    def settle(self, planned):
        """The plan was applied: move the model, then compare."""
        if self.fingerprint_file.exists():  # a run that died may have left none
            self.remembered.append(self.fingerprint_file.read_bytes())
        for change in planned.changes:
            path = change.id.path
            if change.fate is Fate.REMOVED:
                assert path not in self.disk
                del self.indexed[path], self.cut_by[path]
                self.unsure.discard(path)
            elif path in self.bad:
                assert self.recipe != (self.sizes, self.template)
                self.unsure |= {path} if self.recipe[0] != self.sizes else set()
            else:
                assert change.source_digest == source_digest(self.disk[path])
                self.indexed[path] = self.disk[path]
                self.cut_by[path] = self.sizes
                self.unsure.discard(path)
        if not planned.is_empty:
            self.moment += 1
            self.recipe = (self.sizes, self.template)
            self.held = {chunk.model_input for path in self.indexed for chunk in self.cut(path).chunks}
        self.check()

    def check(self):
        """The committed state against the model."""
        index = self.site.open()
        assert index.verify().problems == ()
        head = index.head()
        with index.reader() as reader:
            recorded = {document.id.path: document for document in reader.documents()}
            assert recorded.keys() == self.indexed.keys()
            chunks = {path: reader.chunks(recorded[path].id) for path in recorded}
            texts = reader.texts(sorted({row.text_hash for rows in chunks.values() for row in rows}))
        assert (head.documents, head.chunks) == (len(recorded), sum(map(len, chunks.values())))
        for path, rows in chunks.items():
            source = self.indexed[path]
            for row in rows:
                assert texts[row.text_hash] == fragment(source[row.span.start : row.span.end])
            found = [row for row in rows if row.embed]
            assert all(one.span.end <= other.span.start for one, other in pairwise(found))
            for row in rows:
                if row.parent >= 0:
                    above = rows[row.parent]
                    assert not above.embed
                    assert above.span.start <= row.span.start <= row.span.end <= above.span.end
            wanted = self.cut(path)
            assert [texts[row.text_hash] for row in rows] == [chunk.text.text for chunk in wanted.chunks]
            assert [row.span for row in rows] == [chunk.span for chunk in wanted.chunks]
            assert [row.parent for row in rows] == [chunk.parent for chunk in wanted.chunks]
            assert [row.embed for row in rows] == [chunk.entry.embed for chunk in wanted.chunks]
            assert (recorded[path].source_digest == source_digest(source)) == (path not in self.unsure)
        if self.recipe is not None and set(self.cut_by.values()) <= {self.recipe[0]}:
            roots = {path: self.cut(path).root for path in self.indexed}
            assert {path: document.root for path, document in recorded.items()} == roots
            trie = trie_root((document_key(DocumentId("docs", path)), root) for path, root in roots.items())
            assert head.corpus_root == corpus_root(len(roots), trie)

    def teardown(self):
        try:
            if sys.exc_info()[0] is None:  # a life that failed says why itself
                self.end_well()
        finally:
            shutil.rmtree(self.site.root)

    def end_well(self):
        """In the end everything is readable, and a new index somewhere else has the same content."""
        for path in sorted(self.bad):
            self.put(path, self.indexed.get(path, b"healed word61.\n"))
        self.apply()
        fresh = self.make_site()
        (fresh.root / "steadlith.toml").write_bytes((self.site.root / "steadlith.toml").read_bytes())
        for path in sorted(self.disk, reverse=True):
            fresh.write(path, self.disk[path])
        fresh.apply()
        here, there = self.site.open().head(), fresh.open().head()
        assert (here.corpus_root, here.documents, here.chunks) == (there.corpus_root, there.documents, there.chunks)
        shutil.rmtree(fresh.root)


def live(make_site, examples, steps):
    """How many things happened in these lives."""
    number, happened = count(), count()

    def begin():
        life = Life(lambda **tables: make_site(f"site{next(number)}", **tables))
        life.happened = happened
        return life

    run_state_machine_as_test(
        begin,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        ),
    )
    return next(happened)


def test_a_random_life_keeps_index_and_sources_together(make_site):
    live(make_site, examples=25, steps=20)


@pytest.mark.slow
def test_a_long_random_life_keeps_index_and_sources_together(make_site, tried):
    happened = live(make_site, examples=100, steps=40)
    tried("anything at any time in a long life", "random steps against a dictionary as model", happened)


# ------------------------------------------------------------------------------------ what such lives have shown


def test_a_tail_split_off_into_a_new_document_moves_and_the_rest_is_kept(site, article):
    whole = article("one", sections=8)
    site.write("one.md", whole)
    site.apply()
    at = whole.index("# one 7")
    site.write("one.md", whole[:at])
    site.write("tail.md", whole[at:])
    planned = site.plan()
    assert planned.cost.embeddings == 0
    kept = next(change for change in planned.changes if change.id.path == "one.md")
    assert kept.steps == ()
    done = site.apply(planned)
    assert (done.head.documents, done.embedded) == (2, 0)
    assert site.plan().is_empty
    assert site.open().verify().ok


def test_a_document_that_moved_out_whole_and_stays_empty_is_applied(settled):
    settled.write("plain.txt", "alpha without a heading\n")
    settled.apply()
    settled.write("plain.txt", "")
    settled.write("copy.txt", "alpha without a heading\n")
    settled.apply()
    assert settled.plan().is_empty
    assert settled.open().verify().ok


def test_a_document_that_comes_back_after_the_sizes_changed_is_cut_by_the_new_ones(make_site, article):
    site, fresh = make_site("site"), make_site("fresh")
    content = article("one", sections=8)
    site.write("one.md", content)
    site.apply()
    site.write("one.md", BAD)
    for each in (site, fresh):
        place = each.root / "steadlith.toml"
        place.write_text(place.read_text("utf-8").replace("max_tokens = 48", "max_tokens = 90"), "utf-8")
    site.apply()
    assert site.plan().is_empty
    for each in (site, fresh):
        each.write("one.md", content)
        each.apply()
    assert site.open().head().corpus_root == fresh.open().head().corpus_root
    assert {hit.source_digest for hit in site.hits()} == {source_digest(content.encode())}


def test_an_empty_plan_makes_no_generation(settled):
    before = settled.open().head()
    done = settled.apply()
    assert (done.head, done.already, done.embedded) == (before, False, 0)
