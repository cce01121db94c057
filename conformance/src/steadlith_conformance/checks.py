"""The numbered checks that a store is held to, and the rules that make them.

1. The first 52 are those of the storage specification; what was found to be missing from it follows.
2. A check that takes processes, signals or full disks is no rule of the kit: the tests named `elsewhere` make it, and
   every store that is kept in this repository has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Check(NamedTuple):
    """What is checked, by which rules of the kit, and by which tests of the repository."""

    demand: str
    rules: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


_CRASHES = "tests/adapters/stores/test_sqlite_crashes.py"
_APPLY = "tests/faults/test_apply.py"

CHECKS: Mapping[int, Check] = {
    1: Check(
        "opening again changes nothing",
        ("test_an_absent_index_is_generation_0", "test_opening_an_index_again_changes_nothing"),
    ),
    2: Check(
        "a foreign or newer file is refused",
        ("test_a_foreign_file_is_refused_and_left_alone",),
        ("tests/adapters/stores/test_sqlite_files.py",),
    ),
    3: Check(
        "reading never writes", ("test_reading_changes_not_a_byte", "test_reading_an_absent_index_creates_nothing")
    ),
    4: Check("reopening finds the same head", ("test_a_commit_is_there_after_reopening",)),
    5: Check("two indexes do not see each other", ("test_two_indexes_do_not_see_each_other",)),
    6: Check(
        "closed is closed",
        (
            "test_a_closed_store_refuses_every_call",
            "test_a_closed_reader_refuses_every_call",
            "test_closing_the_store_ends_its_readers_and_its_write",
        ),
    ),
    7: Check("the first commit", ("test_the_first_commit_makes_generation_1",)),
    8: Check("head and rows appear together", ("test_root_and_rows_appear_together",)),
    9: Check(
        "an aborted write leaves nothing",
        ("test_abort_leaves_no_trace", "test_abort_of_the_first_write_leaves_generation_0"),
    ),
    10: Check("a head that moved before begin", ("test_begin_refuses_a_head_that_moved",)),
    11: Check("a head that moved before commit", ("test_of_two_open_writes_one_wins",)),
    12: Check("of racing writers one wins", ("test_of_racing_writers_exactly_one_wins",)),
    13: Check(
        "the same write twice doubles nothing",
        ("test_the_same_write_twice_is_stale_not_doubled", "test_field_case_22_what_is_put_twice_is_there_once"),
    ),
    14: Check("an exception in the caller's rows", ("test_an_exception_in_a_put_iterator_ends_the_write",)),
    15: Check(
        "a root that does not follow from the rows",
        (
            "test_a_root_that_the_nodes_do_not_lead_to_is_refused",
            "test_counts_that_do_not_fit_are_refused",
            "test_a_root_that_does_not_follow_is_named_with_its_document",
        ),
    ),
    16: Check("generations strictly increase", ("test_generations_strictly_increase",)),
    17: Check("a commit of 10,000 rows", ("test_a_commit_of_ten_thousand_chunks",)),
    18: Check("a kill before the commit", (), (_CRASHES, _APPLY)),
    19: Check("a kill at every write of the commit", (), (_CRASHES, _APPLY)),
    20: Check("recovering twice is recovering once", (), (_CRASHES, _APPLY)),
    21: Check("a writer that was overtaken changes nothing", ("test_of_two_open_writes_one_wins",), (_APPLY,)),
    22: Check("rows of a dead writer are never seen", (), (_CRASHES,)),
    23: Check("a full disk is a typed error", (), (_APPLY,)),
    24: Check("what is closed leaves the dense arm", ("test_a_closed_occurrence_vanishes_from_every_arm",)),
    25: Check("what is closed leaves the lexical arm", ("test_a_closed_occurrence_vanishes_from_every_arm",)),
    26: Check("what is closed leaves the occurrences", ("test_a_closed_occurrence_vanishes_from_every_arm",)),
    27: Check("what moves keeps its entry", ("test_a_relocated_occurrence_keeps_its_id_and_its_entry",)),
    28: Check("the same content twice", ("test_the_same_content_twice_is_two_occurrences_of_one_entry",)),
    29: Check("closing what is not there", ("test_closing_a_document_that_is_not_there_is_refused",)),
    30: Check("a document is put or closed once in a write", ("test_a_document_is_named_at_most_once_in_a_write",)),
    31: Check("every generation as it was", ("test_every_kept_generation_reads_as_it_was_committed",)),
    32: Check("a rollback needs no vector", ("test_what_was_closed_returns_with_its_id_and_no_vector",)),
    33: Check(
        "the generation that was rolled back can be read",
        ("test_any_history_reads_as_the_model_and_the_memory_store_say",),
    ),
    34: Check(
        "a compacted generation is gone",
        ("test_a_compacted_generation_is_gone_and_every_other_reads_as_it_was_committed",),
    ),
    35: Check(
        "compaction keeps every root",
        ("test_the_root_of_every_kept_generation_follows_from_what_is_left",),
    ),
    36: Check("compaction under a reader", ("test_a_reader_goes_on_seeing_what_it_saw",)),
    37: Check(
        "space shrinks",
        ("test_compacting_gives_back_what_the_store_says", "test_what_is_given_back_is_missing_outside"),
    ),
    38: Check(
        "the best are those of a full comparison",
        ("test_the_best_are_those_of_a_full_comparison", "test_ties_are_ordered_by_entry_and_cut_there"),
    ),
    39: Check(
        "limits",
        ("test_limits_out_of_range_are_refused", "test_lexical_limits_out_of_range_are_refused"),
    ),
    40: Check(
        "a filter before the cut",
        ("test_a_filter_is_applied_before_the_best_are_taken", "test_a_filtered_arm_answers_the_best_that_pass"),
    ),
    41: Check(
        "odd filters",
        (
            "test_a_filter_takes_any_path",
            "test_nothing_passes_an_empty_filter",
            "test_what_is_dead_or_unknown_passes_no_filter",
        ),
    ),
    42: Check(
        "bad vectors",
        ("test_vectors_that_would_poison_a_space_are_refused", "test_queries_without_a_direction_are_refused"),
    ),
    43: Check("recall of a graph", ("test_a_graph_finds_nine_of_ten", "test_exact_means_exact")),
    44: Check(
        "quantized arms",
        (
            "test_candidates_are_found_by_their_codes_and_ordered_by_their_vectors",
            "test_where_all_are_candidates_the_answer_is_the_exact_one",
        ),
    ),
    45: Check("two spaces do not mix", ("test_spaces_do_not_mix",)),
    46: Check(
        "the order of writing makes no difference",
        (
            "test_results_do_not_depend_on_insertion_order",
            "test_what_is_found_does_not_depend_on_the_order_of_writing",
        ),
    ),
    47: Check("hostile queries", ("test_hostile_queries_never_raise",)),
    48: Check("scores after a delete", ("test_scores_after_a_delete_are_those_of_a_fresh_index",)),
    49: Check("scripts, case, diacritics", ("test_case_and_scripts_without_word_breaks",)),
    50: Check("an empty query", ("test_no_terms_no_hits",)),
    51: Check("a total order", ("test_the_order_is_total_and_the_same_after_reopening",)),
    52: Check("one changed byte", ("test_a_changed_byte_is_found_and_named",)),
    53: Check(
        "the dead hide none of the living",
        (
            "test_dead_vectors_nearer_than_live_ones_hide_none",
            "test_a_dead_entry_is_never_a_hit_however_near",
            "test_the_dead_never_hide_the_living",
        ),
    ),
    54: Check("ids are never used twice", ("test_ids_are_never_used_twice",)),
    55: Check("what was scrubbed is nowhere left", ("test_what_was_scrubbed_is_nowhere_left",)),
    56: Check("a commit outlives its process", ("test_a_commit_is_kept_outside_the_store",), (_CRASHES,)),
    57: Check("a damaged vector is absent", ("test_a_damaged_vector_is_neither_held_nor_given_out",)),
    58: Check("a second writer", ("test_a_second_write_does_as_the_store_says",)),
    59: Check(
        "capabilities are values of the port, and lasting",
        ("test_capabilities_are_values_that_the_port_names", "test_capabilities_are_the_same_at_every_opening"),
    ),
    60: Check("any history", ("test_any_history_reads_as_the_model_and_the_memory_store_say",)),
    61: Check("a moved trie is the trie built from nothing", ("test_moving_the_trie_is_building_it_from_nothing",)),
    62: Check("what is not embedded is never found", ("test_parents_come_back_and_only_parts_are_found",)),
    63: Check(
        "mending replaces what is damaged",
        ("test_a_text_is_replaced_and_found_by_its_words", "test_a_vector_is_replaced"),
    ),
    64: Check("a filter by occurrence", ("test_occurrences_outside_the_documents_are_not_answered",)),
    65: Check("a backup", ("test_a_backup_is_what_was_committed", "test_an_absent_index_has_no_backup")),
    66: Check(
        "the writers' lock",
        (
            "test_one_holds_the_lock_and_the_others_are_told_who",
            "test_a_lock_that_is_not_held_may_be_given_back",
            "test_who_waits_for_the_lock_gets_it",
        ),
    ),
    67: Check(
        "the store's own files are named",
        ("test_no_file_of_ours_is_taken_for_a_document", "test_no_lock_is_taken_for_a_document"),
    ),
    68: Check("setting an index aside deletes nothing", ("test_what_is_set_aside_makes_room_and_is_kept",)),
    69: Check(
        "names, reasons and configurations of generations",
        (
            "test_a_generation_comes_back_as_it_was_committed",
            "test_a_name_leads_to_its_generation_until_it_is_moved_or_taken_away",
            "test_only_a_kept_generation_is_given_a_name",
            "test_names_of_generations_that_are_compacted_away_go_with_them",
        ),
    ),
    70: Check(
        "compacting beside a write",
        (
            "test_a_write_that_a_compaction_overtook_commits_a_whole_index_or_is_stale",
            "test_a_store_compacts_nothing_under_its_own_write",
        ),
    ),
    71: Check(
        "a check before the commit",
        (
            "test_a_check_sees_what_would_be_the_head",
            "test_a_check_that_raises_commits_nothing",
            "test_the_reader_of_a_check_ends_with_it",
        ),
    ),
}


def checks_of(port: str, rule: str) -> list[int]:
    """The numbers of the checks that a rule makes."""
    return [number for number, check in CHECKS.items() if port == "store" and rule in check.rules]
