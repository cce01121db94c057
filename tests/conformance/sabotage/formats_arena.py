"""Programs that write and read our formats to sabotage: one that answers from the golden vectors themselves.

Each format's saboteur gives one wrong answer, the last; so every rule is known to ask to the end.
"""

import json

import pytest
from sabotage.saboteurs import FORMATS as TABLE
from sabotage.saboteurs import Saboteur

from steadlith_conformance.formats import FILES, FormatSuite
from steadlith_conformance.questions import cases

RULES = {
    "identities": "test_the_versions_are_these",
    "encodings": "test_values_have_one_encoding",
    "digests": "test_digests_are_of_a_kind",
    "texts": "test_texts_are_canonical_and_know_where_they_were",
    "tokens": "test_texts_weigh_what_the_table_says",
    "cuts": "test_documents_are_cut_in_these_places",
    "state": "test_trees_and_roots_follow",
    "proofs": "test_proofs_are_made_and_verified_and_others_refused",
    "manifests": "test_manifests_are_written_and_read_and_others_refused",
    "cachefiles": "test_cache_files_are_written_and_read_and_others_refused",
    "quantization": "test_codes_of_vectors_are_these",
}


def _key(question, given):
    return json.dumps([question, given], sort_keys=True)


KNOWN = {_key(case.question, case.given): case.wanted for name in FILES for case in cases(name)}


class Arena(FormatSuite):
    """The whole suite over one saboteur."""

    @pytest.fixture
    def answer(self):
        wrong = self.saboteur.faults.get("format.answer", lambda _question, _given, right: right)
        return lambda question, given: wrong(question, given, KNOWN[_key(question, given)])


def _wrong_at_last(name):
    last = list(cases(name))[-1]

    def answer(question, given, right):
        return ["wrong", right] if (question, given) == (last.question, last.given) else right

    return answer


def _believes(name):
    def answer(question, given, right):
        return {} if right is None and question in FILES[name][1] else right

    return answer


for each, rule in RULES.items():
    saboteur = Saboteur(
        f"wrong_{each}", f"The last answer about {each} is wrong.", (rule,), {"format.answer": _wrong_at_last(each)}
    )
    TABLE.saboteurs[saboteur.name] = saboteur
for each in ("proofs", "manifests", "cachefiles"):
    what = f"Of {each} it takes what must be refused."
    saboteur = Saboteur(f"believes_{each}", what, (RULES[each],), {"format.answer": _believes(each)})
    TABLE.saboteurs[saboteur.name] = saboteur
