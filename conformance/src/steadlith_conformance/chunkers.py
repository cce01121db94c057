"""What every chunking policy must do, as a class to inherit: override `factory`, and `settings` if it needs any.

1. A rule is one inherited method; its name is what it demands.
2. What a policy may choose stands in three class attributes: whether headings are chunk text, the most bytes of a
   chunk, and whether an edit leaves distant cuts where they are. Each is a claim, and a rule holds it to it.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from steadlith_conformance.chunksamples import BLANK, HOSTILE, ORDINARY, check, left_out, long_paragraphs, read
from steadlith_conformance.suite import Suite, inapplicable
from steadlith_core.errors import ConfigError, DocumentError
from steadlith_core.records import FindingKind, Format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.policies import Chunker, ChunkerFactory

LINES = st.sampled_from(
    [
        *("# Head", "## Sub head", "Under", "=====", "---", "```", "| a | b |", "|---|---|", "- item. More", "> quote"),
        *("plain words. Another sentence here! no", "  indented line", "    deep code", ".. code::", "Literal::"),
        *(
            "長い文章です。次の文\uff01「引用」最後",
            "cafe\u0301 re\u0301sume\u0301",
            "\u0301mark",
            "\u3099",
            "\u1100\u1161\u11a8",
        ),
        *("a\u00a0b\u3000c\u2003d", "x" * 300, "e\u0301" * 90, "\U0001f468\u200d\U0001f469" * 12, "", "a\vb\fc", "\0"),
        *("\u0378\u0378\u0378", "\u3000"),
        *(" " * 80 + "far", "words one two three four five six seven eight nine ten eleven", "\u2028x"),
    ]
)
SOURCES = st.builds(
    lambda lines, end, front: front + end.join(lines),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n", " \n"]),
    st.sampled_from(["", "", "\ufeff", "---\ntitle: T\n---\n"]),
)


class ChunkerSuite(Suite, port="chunker"):
    """The rules of `policies.Chunker`, `policies.BatchChunker` and `policies.ChunkerFactory`."""

    headings_in_text: ClassVar[bool] = True
    """Whether headings are chunk text. False: they stand in the path of the chunks below them alone."""
    most_bytes: ClassVar[int | None] = None
    """The most bytes of UTF-8 of a chunk, if the policy promises any."""
    local: ClassVar[bool] = True
    """Whether an edit leaves the cuts far away from it where they are."""

    @pytest.fixture
    def factory(self) -> ChunkerFactory:
        """The policy's factory."""
        raise NotImplementedError("override `factory`: the policy's factory, the object that its entry point leads to")

    @pytest.fixture
    def settings(self) -> Mapping[str, Any]:
        """The table that the policy is built from."""
        return {}

    @pytest.fixture
    def chunker(self, factory: ChunkerFactory, settings: Mapping[str, Any]) -> Chunker:
        """The policy."""
        return factory.build(settings)

    def test_its_name_is_versioned_and_its_parameters_are_plain(
        self, factory: ChunkerFactory, settings: Mapping[str, Any], chunker: Chunker
    ) -> None:
        """Both are part of every chunk's identity: a new version cuts everybody's documents anew, so it has a new name.

        Name it `mine/1`, and give every parameter with its default made explicit, as a text, a whole number or a bool.
        """
        name, _, number = chunker.id.rpartition("/")
        assert name
        assert number.isdigit(), f"id = {chunker.id!r}: expected a name, a slash and a number, as in 'mine/1'"
        assert all(isinstance(key, str) for key in chunker.params)
        assert all(type(value) in {int, str, bool} for value in chunker.params.values())
        before = copy.deepcopy(dict(settings))
        again = factory.build(settings)
        assert (again.id, dict(again.params)) == (chunker.id, dict(chunker.params))
        assert settings == before, "`build` changed the settings that it was given"

    def test_an_unknown_setting_is_refused_by_name(self, factory: ChunkerFactory, settings: Mapping[str, Any]) -> None:
        """A misspelt key that is passed over cuts in a way that nobody asked for. Raise `ConfigError` with it."""
        with pytest.raises(ConfigError, match="no_such_setting"):
            factory.build({**settings, "no_such_setting": 1})

    def test_a_document_without_text_has_no_chunks(self, chunker: Chunker) -> None:
        """A chunk of nothing is paid for, and found by every query. White space and front matter are no text."""
        for source in BLANK:
            _, text = read(source, Format.MARKDOWN)
            assert chunker.cut(text, Format.MARKDOWN) == ((), ()), repr(source)

    @pytest.mark.parametrize("name", ORDINARY)
    def test_chunks_are_exact_pieces_of_their_source_in_order(self, chunker: Chunker, name: str) -> None:
        """A hit shows its source by its span, and is proved by its text: both must be the same piece of the document.

        Work in positions of `text.data` from `text.body` on, trim them (`text.canonical.trim`), and ask `text.spans`.
        """
        grammar, source = ORDINARY[name]
        content, text = read(source, grammar)
        for each in Format:
            check(content, text, chunker.cut(text, each))

    @pytest.mark.parametrize("name", ORDINARY)
    def test_all_text_is_in_a_chunk(self, chunker: Chunker, name: str) -> None:
        """What no embedded chunk holds cannot be found, and nobody is told. Only white space may fall between chunks.

        A policy that puts headings into the path instead of the text says `headings_in_text = False`.
        """
        grammar, source = ORDINARY[name]
        content, text = read(source, grammar)
        chunks, _ = chunker.cut(text, grammar)
        assert left_out(content, text, chunks, grammar, headings_in_text=self.headings_in_text) == ""

    def test_any_document_keeps_the_laws(self, chunker: Chunker) -> None:
        """The two rules above, for documents that nobody would think of."""

        @hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(SOURCES, st.sampled_from(Format))
        def holds(source: str, grammar: Format) -> None:
            content, text = read(source, grammar)
            chunks, findings = chunker.cut(text, grammar)
            check(content, text, (chunks, findings))
            assert left_out(content, text, chunks, grammar, headings_in_text=self.headings_in_text) == ""
            assert chunker.cut(text, grammar) == (chunks, findings)

        holds()

    @pytest.mark.parametrize("name", HOSTILE)
    def test_hostile_documents_are_cut_in_bounds(self, chunker: Chunker, name: str) -> None:
        """One minified file must not stop a corpus: neither by an exception nor by a flood of overlapping chunks.

        A document that is beyond the policy's own limits is a `DocumentError`, whose kind becomes a finding.
        """
        grammar, source = HOSTILE[name]
        content, text = read(source, grammar)
        try:
            chunks, findings = chunker.cut(text, grammar)
        except DocumentError as error:
            assert error.kind in set(FindingKind)
            return
        check(content, text, (chunks[:200], findings))
        assert chunks
        size = sum(len(chunk.text.encode()) for chunk in chunks)
        assert size <= 4 * len(content), f"{len(content)} bytes became {size} bytes of chunks"

    def test_no_chunk_is_over_the_promised_size(self, chunker: Chunker) -> None:
        """A model that reads so much and no more cuts off the rest without a word. Count UTF-8 bytes."""
        if self.most_bytes is None:
            inapplicable("the policy promises no most bytes (`most_bytes`)")
        for grammar, source in (*ORDINARY.values(), HOSTILE["one run without a break"], HOSTILE["marks upon marks"]):
            _, text = read(source, grammar)
            try:
                sizes = [len(chunk.text.encode()) for chunk in chunker.cut(text, grammar)[0] if chunk.embed]
            except DocumentError:
                continue
            assert max(sizes) <= self.most_bytes

    def test_the_same_text_is_cut_the_same_way_every_time(
        self, factory: ChunkerFactory, settings: Mapping[str, Any], chunker: Chunker
    ) -> None:
        """Chunks that move by themselves are embedded again at every plan. No clock, no dice, no order of a set."""
        other = factory.build(settings)
        for grammar, source in ORDINARY.values():
            _, text = read(source, grammar)
            first = chunker.cut(text, grammar)
            assert chunker.cut(text, grammar) == first
            assert other.cut(text, grammar) == first

    def test_what_was_cut_before_makes_no_difference(
        self, chunker: Chunker, factory: ChunkerFactory, settings: Mapping[str, Any]
    ) -> None:
        """Documents are cut in any order, by any number of processes. Keep nothing from one call to the next."""
        samples = [(grammar, read(source, grammar)[1]) for grammar, source in ORDINARY.values()]
        forward = [chunker.cut(text, grammar) for grammar, text in samples]
        other = factory.build(settings)
        backward = [other.cut(text, grammar) for grammar, text in reversed(samples)]
        assert backward[::-1] == forward

    def test_threads_may_share_it(self, chunker: Chunker) -> None:
        """The engine cuts in several threads with one policy."""
        _, text = read("\n\n".join(long_paragraphs(60)), Format.MARKDOWN)
        alone = chunker.cut(text, Format.MARKDOWN)
        with ThreadPoolExecutor(8) as pool:
            assert all(made == alone for made in pool.map(lambda _: chunker.cut(text, Format.MARKDOWN), range(16)))

    def test_line_ends_and_composition_make_no_difference_to_the_texts(self, chunker: Chunker) -> None:
        """A checkout on another system must not change an identity. Cut the canonical text alone."""
        plain = "# T\u00eate\n\ncaf\u00e9 noir. \u00c9t\u00e9 suit.\nune ligne\n\n" * 40
        written = plain.replace("\n", "\r\n").replace("\u00e9", "e\u0301")
        one, other = (
            [
                (chunk.text, chunk.headings)
                for chunk in chunker.cut(read(source, Format.MARKDOWN)[1], Format.MARKDOWN)[0]
            ]
            for source in (plain, written)
        )
        assert one == other

    def test_the_bytes_before_the_body_are_no_chunk_text(self, chunker: Chunker) -> None:
        """Front matter is metadata, and is kept as such. Begin at `text.body`."""
        _, text = read("---\ntitle: hidden\n---\n# Head\n\n" + "words of the body\n\n" * 30, Format.MARKDOWN)
        chunks, _ = chunker.cut(text, Format.MARKDOWN)
        assert not any("hidden" in chunk.text for chunk in chunks)
        whole, _ = chunker.cut(replace(text, body=0), Format.MARKDOWN)
        assert any("hidden" in chunk.text or "hidden" in "".join(chunk.headings) for chunk in whole), (
            "where the body begins is the caller's to say: look for no front matter yourself"
        )

    def test_many_documents_at_once_are_cut_as_one_by_one(self, chunker: Chunker) -> None:
        """`cut_many` is there for speed alone; plans of many documents and of one must agree."""
        together = getattr(chunker, "cut_many", None)
        if together is None:
            inapplicable("the policy has no `cut_many`")
        for grammar in Format:
            texts = [read(source, grammar)[1] for _, source in ORDINARY.values()] + [read("", grammar)[1]]
            alone = [chunker.cut(text, grammar) for text in texts]
            made = [
                (group.chunks(number), group.findings(number))
                for group in together(texts, grammar)
                for number in range(len(group))
            ]
            assert made == alone
            titles = [group.title(number) for group in together(texts, grammar) for number in range(len(group))]
            assert all(isinstance(title, str) for title in titles)
            assert list(together([], grammar)) == []

    def test_an_edit_leaves_distant_chunks_alone(self, chunker: Chunker) -> None:
        """An edit should cost the chunks around it, not all behind it: every other one is embedded and paid for again.

        Let content decide where cuts fall, not a count from the document's start; else say `local = False`.
        """
        if not self.local:
            inapplicable("the policy says that an edit may move every cut behind it (`local`)")
        parts = long_paragraphs()
        edits = (
            [*parts[:40], "A new paragraph. " * 12, *parts[40:]],
            [*parts[:60], *parts[61:]],
            [*parts[:80], parts[80].replace("the", "another"), *parts[81:]],
        )
        texts = [
            [chunk.text for chunk in chunker.cut(read("\n\n".join(each), Format.MARKDOWN)[1], Format.MARKDOWN)[0]]
            for each in (parts, *edits)
        ]
        before = texts[0]
        assert len(before) >= 8, "16,000 words in fewer than eight chunks: give smaller sizes in `settings`"
        for after in texts[1:]:
            kept = len(set(before) & set(after))
            assert kept >= 0.6 * len(set(before)), f"of {len(set(before))} chunks an edit of one paragraph left {kept}"
