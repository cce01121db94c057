"""What every program must do that reads or writes our formats, as a class to inherit: override `answer`.

1. A rule is one file of golden vectors, asked in both directions (`questions.py`).
2. A program need not know every format: `answers` names the questions that it is asked. Others are reported as not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pytest

from steadlith_conformance.questions import cases
from steadlith_conformance.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Answer: TypeAlias = "Callable[[str, Mapping[str, Any]], Any]"
"""Answers one question, given as JSON, with JSON; none where what is given must be refused."""

FILES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "identities": ("the names of the versions that all others are of", ("identities",)),
    "encodings": ("canonical values as bytes (format.md 1)", ("encode",)),
    "digests": ("digests of fields and of bytes (2)", ("hash_fields", "hash_bytes")),
    "texts": ("canonical text, and where each of its characters stood (8)", ("canonicalise",)),
    "tokens": ("the token estimate (10)", ("estimate",)),
    "cuts": (
        "where `structural/1` cuts, and what chunks are called (11 to 15); `documents.json` has the sources",
        ("cut",),
    ),
    "state": (
        "trees, tries, roots and the names of entries and vectors (3 to 6)",
        (
            *("leaves_root", "document_root", "document_key", "corpus", "empty_head"),
            *("context_hash", "entry_hash", "space_id", "vector_key", "embedding_id"),
        ),
    ),
    "proofs": ("proofs, and what must not be taken for one (9)", ("verify", "prove", "verify_chunk", "prove_chunk")),
    "manifests": ("manifests, and what must not be taken for one (16)", ("write_manifest", "read_manifest")),
    "cachefiles": ("cache files, and what must not be taken for one (18)", ("write_cachefile", "read_cachefile")),
    "quantization": ("codes of vectors (3)", ("quantize",)),
}
"""What each file of golden vectors pins, and which questions it holds."""


class FormatSuite(Suite, port="formats"):
    """The golden vectors of docs/format.md."""

    answers: ClassVar[frozenset[str] | None] = None
    """The questions that the program answers; none for all of them."""

    @pytest.fixture
    def answer(self) -> Answer:
        """A function that answers one question."""
        raise NotImplementedError("override `answer`: a function from a question and what is given to its answer")

    def _asked(self, name: str, answer: Answer) -> None:
        known = [case for case in cases(name) if self.answers is None or case.question in self.answers]
        if not known:
            pytest.skip(f"the program answers none of {', '.join(FILES[name][1])}")
        for case in known:
            got = answer(case.question, case.given)
            if case.wanted is None:
                assert got is None, f"{case.name}: {case.question} must refuse it"
            else:
                assert got == case.wanted, f"{case.name}: {case.question} has another answer"

    def test_the_versions_are_these(self, answer: Answer) -> None:
        """A program of other versions makes other names for everything. Nothing else can match until this does."""
        self._asked("identities", answer)

    def test_values_have_one_encoding(self, answer: Answer) -> None:
        """Every digest is over these bytes. Lengths are 8 bytes, keys go by their UTF-8, numbers are shortest."""
        self._asked("encodings", answer)

    def test_digests_are_of_a_kind(self, answer: Answer) -> None:
        """A digest of one kind never equals one of another. Kind and constants make the key, as format.md 2 says."""
        self._asked("digests", answer)

    def test_texts_are_canonical_and_know_where_they_were(self, answer: Answer) -> None:
        """NFC is that of Unicode 14.0, whatever your library has, and white space is six characters."""
        self._asked("texts", answer)

    def test_texts_weigh_what_the_table_says(self, answer: Answer) -> None:
        """Sizes move cuts. Weigh bytes by their class and the one before, in whole units, and round up once."""
        self._asked("tokens", answer)

    def test_documents_are_cut_in_these_places(self, answer: Answer) -> None:
        """One cut that falls elsewhere makes other chunks. Compare levels first: they say where a cut may fall."""
        self._asked("cuts", answer)

    def test_trees_and_roots_follow(self, answer: Answer) -> None:
        """A root vouches for all below it. Look at the smallest size that differs: 0 and 1 have rules of their own."""
        self._asked("state", answer)

    def test_proofs_are_made_and_verified_and_others_refused(self, answer: Answer) -> None:
        """A proof that is believed for what it says of itself proves nothing: recompute, and read bytes one way."""
        self._asked("proofs", answer)

    def test_manifests_are_written_and_read_and_others_refused(self, answer: Answer) -> None:
        """A manifest stands for an index elsewhere. Refuse what is not in its shortest form, in order and whole."""
        self._asked("manifests", answer)

    def test_cache_files_are_written_and_read_and_others_refused(self, answer: Answer) -> None:
        """What a cache file holds was paid for. Refuse the whole file when a single entry is not as it was written."""
        self._asked("cachefiles", answer)

    def test_codes_of_vectors_are_these(self, answer: Answer) -> None:
        """Codes choose candidates. int8 is rounded half away from zero; a bit is 1 where a component is 0 or more."""
        self._asked("quantization", answer)
