"""Rules that find their way by words, and so ask nothing of a store that says it has no lexical arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.suite import inapplicable

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore

BY_WORDS = frozenset(
    {
        "test_a_filter_is_applied_before_the_best_are_taken",
        "test_a_first_write_may_mend",
        "test_a_large_index_still_finds_what_is_rare_and_what_is_common",
        "test_a_parent_in_one_document_is_found_where_another_has_it_as_a_chunk",
        "test_a_text_is_replaced_and_found_by_its_words",
        "test_an_entry_is_replaced_and_keeps_its_number",
        "test_an_occurrence_that_turns_into_context_is_found_no_more",
        "test_an_old_generation_knows_where_its_occurrences_stood",
        "test_bm25_weighs_rarity_repetition_and_length",
        "test_case_and_scripts_without_word_breaks",
        "test_hostile_queries_never_raise",
        "test_lexical_limits_out_of_range_are_refused",
        "test_new_content_under_an_old_id_is_what_is_found",
        "test_occurrences_outside_the_documents_are_not_answered",
        "test_only_metadata_may_change",
        "test_parents_come_back_and_only_parts_are_found",
        "test_scores_after_a_delete_are_those_of_a_fresh_index",
        "test_scores_count_how_rare_a_term_is_if_the_store_says_so",
        "test_scrubbing_removes_what_compacting_does",
        "test_terms_are_joined_by_or",
        "test_the_order_is_total_and_the_same_after_reopening",
        "test_title_and_headings_are_searched",
        "test_what_was_closed_returns_with_its_id_and_no_vector",
        "test_writing_goes_on_from_a_compacted_index",
    }
)
"""What they demand besides words, `MachineRules` demands of every store."""


class ByWords:
    """Leaves these rules out where there are no words."""

    @pytest.fixture(autouse=True)
    def words_where_a_rule_needs_them(self, request: pytest.FixtureRequest) -> None:
        """Ask the store before the rule does."""
        if getattr(request.node, "originalname", "") in BY_WORDS:
            make_store: MakeStore = request.getfixturevalue("make_store")
            if make_store().capabilities.lexical == "none":
                inapplicable("the store has no lexical arm, and this rule finds its way by words")
