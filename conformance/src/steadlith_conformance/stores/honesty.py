"""What a store may say of itself, value by value, and which rules hold it to that.

1. A value that is not here is refused.
2. `claimed` are rules that fail if a store says this and does not do it; `unclaimed` are rules that fail if it does
   this and says something else, or why nobody could see that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Honesty(NamedTuple):
    """How one value is held to the truth, in both directions."""

    claimed: tuple[str, ...]
    unclaimed: tuple[str, ...] | str


_ONLY = "the port has no other value"

VALUES: Mapping[str, Mapping[object, Honesty]] = {
    "commit": {"atomic": Honesty(("test_root_and_rows_appear_together", "test_abort_leaves_no_trace"), _ONLY)},
    "cas": {"transactional": Honesty(("test_of_racing_writers_exactly_one_wins",), _ONLY)},
    "writers": {
        "serialized": Honesty(
            ("test_a_second_write_does_as_the_store_says",), ("test_a_second_write_does_as_the_store_says",)
        ),
        "cas": Honesty(
            ("test_a_second_write_does_as_the_store_says",), ("test_a_second_write_does_as_the_store_says",)
        ),
    },
    "isolation": {"snapshot": Honesty(("test_a_reader_never_sees_a_later_commit",), _ONLY)},
    "durability": {
        "fsync": Honesty(
            ("test_a_commit_is_kept_outside_the_store",),
            "what outlives the process is a matter of more processes than one",
        ),
        "process": Honesty((), "it promises nothing"),
    },
    "dense": {
        "exact": Honesty(("test_the_best_are_those_of_a_full_comparison", "test_exact_means_exact"), _ONLY),
        "rescored": Honesty((), ("test_candidates_are_found_by_their_codes_and_ordered_by_their_vectors",)),
        "hnsw": Honesty(("test_a_graph_finds_nine_of_ten",), ("test_without_a_graph_nothing_is_missed",)),
    },
    "prefilter": {
        "exact": Honesty(("test_a_filtered_arm_answers_the_best_that_pass",), "an arm that misses nothing says so"),
        "iterative": Honesty(
            ("test_a_filter_is_applied_before_the_best_are_taken",), ("test_a_filtered_arm_answers_the_best_that_pass",)
        ),
    },
    "lexical": {
        "bm25": Honesty(
            ("test_bm25_weighs_rarity_repetition_and_length",),
            (
                "test_scores_count_how_rare_a_term_is_if_the_store_says_so",
                "test_without_a_lexical_arm_nothing_is_found",
            ),
        ),
        "ts_rank": Honesty(
            ("test_scores_count_how_rare_a_term_is_if_the_store_says_so",),
            ("test_bm25_weighs_rarity_repetition_and_length", "test_without_a_lexical_arm_nothing_is_found"),
        ),
        "none": Honesty(("test_without_a_lexical_arm_nothing_is_found",), ("test_terms_are_joined_by_or",)),
    },
    "lexical_stats": {
        "head": Honesty(
            (
                "test_scores_count_how_rare_a_term_is_if_the_store_says_so",
                "test_scores_after_a_delete_are_those_of_a_fresh_index",
            ),
            ("test_scores_count_how_rare_a_term_is_if_the_store_says_so",),
        ),
        "none": Honesty(
            ("test_scores_count_how_rare_a_term_is_if_the_store_says_so",),
            ("test_scores_count_how_rare_a_term_is_if_the_store_says_so",),
        ),
    },
    "quantization": {
        form: Honesty(
            ("test_what_is_offered_can_be_kept_and_nothing_else",),
            ("test_what_is_offered_can_be_kept_and_nothing_else",),
        )
        for form in ("float32", "int8", "binary")
    },
    "time_travel": {
        "manifest": Honesty(
            (
                "test_every_kept_generation_reads_as_it_was_committed",
                "test_the_arms_of_an_old_generation_are_refused",
            ),
            ("test_an_old_generation_is_searched_as_it_was",),
        ),
        "search": Honesty(
            (
                "test_every_kept_generation_reads_as_it_was_committed",
                "test_an_old_generation_is_searched_as_it_was",
                "test_a_large_old_generation_is_searched_as_it_was",
            ),
            ("test_the_arms_of_an_old_generation_are_refused",),
        ),
    },
    "reclaims_space": {
        True: Honesty(
            ("test_compacting_gives_back_what_the_store_says",), ("test_compacting_gives_back_what_the_store_says",)
        ),
        False: Honesty(
            ("test_compacting_gives_back_what_the_store_says",), ("test_compacting_gives_back_what_the_store_says",)
        ),
    },
    "remote": {
        True: Honesty((), "a network that answers is as good as a disk"),
        False: Honesty((), "a network that answers is as good as a disk"),
    },
}
"""Every value of `ports.Capabilities` but `max_limit`, a number, which the limits of both arms are tested with."""

WORDS = {"bm25": ("head",), "ts_rank": ("head", "none"), "none": ("none",)}
"""Which statistics a lexical arm may count with: BM25 has rarity in it, `ts_rank` of each term may be weighed by it,
and no arm has nothing.
"""


def problems(said: Mapping[str, object]) -> list[str]:
    """What is wrong with what a store says of itself, in sentences for its author."""
    found = []
    for name, value in said.items():
        if name == "max_limit":
            if not (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
                found.append(f"max_limit = {value!r}: a whole number from 1 on is needed")
        elif name not in VALUES:
            found.append(f"{name} is no capability that the port has: leave it out")
        elif isinstance(value, frozenset):
            found += _set_problems(name, value)
        elif name in {"dense", "quantization"} or not _known(name, value):
            known = ", ".join(map(repr, VALUES[name]))
            found.append(f"{name} = {value!r}: the port has {known}")
    may_be = WORDS.get(str(said["lexical"]))
    if may_be is not None and said["lexical_stats"] not in may_be:
        found.append(f"lexical = {said['lexical']!r} goes with lexical_stats = {' or '.join(map(repr, may_be))}")
    return found


def _set_problems(name: str, value: frozenset[object]) -> list[str]:
    least = {"dense": "exact", "quantization": "float32"}
    if name not in least:
        return [f"{name} = {value!r}: one value is needed, not a set"]
    unknown = [f"{name} holds {each!r}, which the port does not know" for each in value if not _known(name, each)]
    return unknown + ([] if least[name] in value else [f"{name} lacks {least[name]!r}, which every store has"])


def _known(name: str, value: object) -> bool:
    # By type too: 1 is True to Python, and no answer to a question of yes or no.
    return any(type(value) is type(known) and value == known for known in VALUES[name])
