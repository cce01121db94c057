"""Stores that search wrongly: filtered too late, in another order, over other spaces, by half of the words."""

from dataclasses import replace

from sabotage.saboteurs import STORES

from steadlith_adapters.stores.memory import bm25
from steadlith_core import vectors
from steadlith_core.errors import AdapterError, GenerationGone, UsageError
from steadlith_core.rows import ArmHit

breaks, also = STORES.breaks, STORES.also
MOST = 1000


def _every(it, space, query):
    """All entries with a vector of the space, dead or alive, best first."""
    state = it.inner._state
    scores = it.inner.cosines(space, query, list(state.numbers.values()))
    return [ArmHit(*each) for each in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]


def _live(it):
    state = it.inner._state
    return {state.numbers[key] for key in state.live()}


def _checked(it, space, query, limit, among=None, **_options):
    """As the arm refuses; whether there is anything to answer."""
    return it.inner.dense(space, query, limit, among)


@breaks("reader.dense", "test_the_best_are_those_of_a_full_comparison")
def misses_some(it, space, query, limit, among=None, *, exact=False):
    """It says that it is exact, and is not."""
    del exact
    hits = it.inner.dense(space, query, MOST, among)
    it.inner.dense(space, query, limit, among)
    return tuple(hit for hit in hits if hit.entry % 7)[:limit]


@breaks("reader.dense", "test_a_filter_is_applied_before_the_best_are_taken")
def silent_post_filter(it, space, query, limit, among=None, *, exact=False):
    """The filter comes after the best were taken."""
    hits = it.inner.dense(space, query, limit, exact=exact)
    return hits if among is None else tuple(hit for hit in hits if hit.entry in set(among))


@breaks("reader.dense", "test_a_filtered_arm_answers_the_best_that_pass")
def filtered_by_guess(it, space, query, limit, among=None, *, exact=False):
    """Of what passes the filter, half is looked at; it says that its filter loses nothing."""
    if among is not None and len(among) > 20:
        among = sorted(among)[: max(20, len(among) // 2)]
    return it.inner.dense(space, query, limit, among, exact=exact)


@breaks("reader.lexical", "test_a_filter_is_applied_before_the_best_are_taken")
def silent_lexical_post_filter(it, terms, limit, among=None):
    """The filter of the lexical arm comes after the best were taken."""
    hits = it.inner.lexical(terms, limit)
    return hits if among is None else tuple(hit for hit in hits if hit.entry in set(among))


@breaks("reader.lexical", "test_a_filter_does_not_change_a_score")
def rarity_within_the_filter(it, terms, limit, among=None):
    """How rare a word is counts among those that pass."""
    hits = it.inner.lexical(terms, limit, among)
    return hits if among is None else tuple(replace(hit, score=hit.score / 2) for hit in hits)


@breaks("reader.dense", "test_the_order_and_repeats_of_a_filter_do_not_matter")
def filter_in_its_own_order(it, space, query, limit, among=None, *, exact=False):
    """What passes a filter is answered as often as the filter names it."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    return tuple(hit for hit in hits for _ in range(1 if among is None else list(among).count(hit.entry)))[:limit]


@breaks("reader.dense", "test_nothing_passes_an_empty_filter")
def an_empty_filter_is_none(it, space, query, limit, among=None, *, exact=False):
    """An empty filter is taken for no filter."""
    return it.inner.dense(space, query, limit, among or None, exact=exact)


@breaks("reader.dense", "test_what_is_dead_or_unknown_passes_no_filter")
def filters_find_the_dead(it, space, query, limit, among=None, *, exact=False):
    """What a filter names is answered, alive or not."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    return hits if among is None else tuple(hit for hit in _every(it, space, query) if hit.entry in set(among))[:limit]


@breaks("reader.dense", "test_a_filter_lifts_no_other_rule")
def filters_need_no_limit(it, space, query, limit, among=None, *, exact=False):
    """With a filter any limit will do."""
    if among is not None:
        limit = min(max(limit, 1), MOST)
    return it.inner.dense(space, query, limit, among, exact=exact)


@breaks(
    "reader.dense",
    "test_ties_are_ordered_by_entry_and_cut_there",
    "test_where_all_are_candidates_the_answer_is_the_exact_one",
)
def non_deterministic_ties(it, space, query, limit, among=None, *, exact=False):
    """Equal scores come in another order each time."""
    it.kept["asked"]["times"] = turn = it.kept["asked"].get("times", 0) + 1
    it.inner.dense(space, query, limit, among)
    hits = it.inner.dense(space, query, MOST, among, exact=exact)
    return tuple(sorted(hits, key=lambda hit: (-round(hit.score, 9), hit.entry * (1 if turn % 2 else -1))))[:limit]


@breaks("reader.dense", "test_limits_out_of_range_are_refused")
def limits_are_clamped(it, space, query, limit, *given, **options):
    """A limit that is too large is taken for the largest."""
    return it.inner.dense(space, query, min(max(limit, 1), MOST), *given, **options)


@breaks("reader.lexical", "test_lexical_limits_out_of_range_are_refused")
def lexical_limits_are_clamped(it, terms, limit, *given):
    """A lexical limit that is too large is taken for the largest."""
    return it.inner.lexical(terms, min(max(limit, 1), MOST), *given)


@breaks("reader.dense", "test_queries_without_a_direction_are_refused")
def any_query_is_answered(it, *given, **options):
    """A query that has no direction finds nothing, without a word."""
    try:
        return it.inner.dense(*given, **options)
    except UsageError as error:
        if "limit" in str(error) or "closed" in str(error):
            raise
        return ()


@breaks("reader.dense", "test_spaces_do_not_mix")
def one_space_a_width(it, space, query, limit, *given, **options):
    """Spaces of as many dimensions are one."""
    same = [each for each in it.inner._state.vectors if each.dimensions == space.dimensions]
    return it.inner.dense(same[0] if same else space, query, limit, *given, **options)


@breaks("reader.dense", "test_spaces_of_one_model_stand_side_by_side")
def one_space_a_model(it, space, query, limit, *given, **options):
    """Spaces of one model in two forms are one."""
    same = [
        each
        for each in it.inner._state.vectors
        if each.model_id == space.model_id and each.dimensions == space.dimensions
    ]
    return it.inner.dense(same[0] if same else space, query, limit, *given, **options)


@breaks("reader.dense", "test_results_do_not_depend_on_insertion_order")
def looks_at_the_first_fifty(it, space, query, limit, among=None, *, exact=False):
    """Only what was put first is compared."""
    hits = it.inner.dense(space, query, MOST, among, exact=exact)
    it.inner.dense(space, query, limit)
    return tuple(hit for hit in hits if hit.entry <= 50)[:limit]


@breaks("reader.cosines", "test_cosines_are_those_of_the_arm")
def cosines_are_rounded(it, *given):
    """Cosines are rounded, the arm's are not."""
    return {entry: round(cosine, 3) for entry, cosine in it.inner.cosines(*given).items()}


@breaks(
    "reader.dense", "test_a_dead_entry_is_never_a_hit_however_near", "test_dead_vectors_nearer_than_live_ones_hide_none"
)
def dead_hide_the_living(it, space, query, limit, among=None, *, exact=False):
    """The best are taken of all that was ever put, and the dead left out afterwards."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    if among is not None or not hits:
        return hits
    return tuple(hit for hit in _every(it, space, query)[:limit] if hit.entry in _live(it))


@breaks(
    "reader.dense",
    "test_entries_put_without_an_occurrence_are_not_found",
    "test_a_dead_entry_is_never_a_hit_however_near",
)
def finds_what_nothing_uses(it, space, query, limit, among=None, *, exact=False):
    """Whatever has a vector is found."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    return hits if among is not None else tuple(_every(it, space, query)[:limit])


@breaks("reader.dense", "test_liveness_reaches_every_space")
def dead_in_one_space_alone(it, space, query, limit, among=None, *, exact=False):
    """What is deleted leaves the first space and stays in the others."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    return hits if space.dimensions == 8 or among is not None else tuple(_every(it, space, query)[:limit])


@breaks("store.capabilities", "test_the_arms_of_an_old_generation_are_refused")
def says_nothing_of_the_past(it):
    """It says that it searches its head only, and searches older generations."""
    return replace(it.inner.capabilities, time_travel="manifest")


@breaks("reader.dense", "test_an_old_generation_is_searched_as_it_was")
def old_generations_are_todays(it, *given, **options):
    """An older generation answers with the head's hits."""
    it.inner.dense(*given, **options)
    return it.parent.inner.snapshot().dense(*given, **options)


@breaks("reader.dense", "test_an_old_generation_is_searched_as_it_was")
def of_then_what_is_left(it, space, query, limit, among=None, *, exact=False):
    """Of an older generation only that is found which is still live."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    state = it.parent.inner._history[-1]
    names = {number: key for key, number in it.inner._state.numbers.items()}
    return tuple(hit for hit in hits if names[hit.entry] in state.live())


@breaks("reader.lexical", "test_an_old_generation_is_searched_as_it_was")
def rarity_of_today(it, terms, limit, among=None):
    """The words of an older generation are as rare as they are today."""
    hits = it.inner.lexical(terms, limit, among)
    today = {hit.entry: hit.score for hit in it.parent.inner.snapshot().lexical(terms, MOST)}
    return tuple(replace(hit, score=today.get(hit.entry, hit.score)) for hit in hits)


@breaks("reader.dense", "test_a_large_old_generation_is_searched_as_it_was")
def of_much_the_first(it, space, query, limit, among=None, *, exact=False):
    """Of an older generation that is large some are compared."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    if it.inner.generation == it.inner.head.generation or len(_live(it)) < MOST:
        return hits
    return it.inner.dense(space, query, limit, sorted(_live(it))[:MOST])


@breaks("reader.cosines", "test_an_old_generation_is_searched_as_it_was")
def cosines_of_the_head_alone(it, *given):
    """An older generation has hits and no cosines."""
    if it.inner.generation != it.inner.head.generation:
        raise GenerationGone(f"generation {it.inner.generation} has none")
    return it.inner.cosines(*given)


@breaks("store.snapshot", "test_the_head_by_number_is_the_head")
def numbers_are_history(it, generation=None):
    """A generation by its number is the one before it."""
    found = it.inner.snapshot(generation)
    if generation:
        found._state = it.inner._history[generation - 1]
    return found


@breaks("reader.vectors", "test_vectors_keys_and_cosines_are_those_that_were_put")
def vectors_are_rounded(it, space, keys):
    """Of a quantized space what was rounded is given back."""
    found = it.inner.vectors(space, keys)
    if space.quantization == "float32":
        return found
    return {
        key: vectors.unit(vectors.pack([round(n, 2) for n in vectors.unpack(each).tolist()]))
        for key, each in found.items()
    }


@breaks("reader.dense", "test_where_all_are_candidates_the_answer_is_the_exact_one")
def scores_of_codes(it, space, *given, **options):
    """Scores in a quantized space are those of the codes."""
    hits = it.inner.dense(space, *given, **options)
    return hits if space.quantization == "float32" else tuple(replace(hit, score=round(hit.score, 2)) for hit in hits)


@breaks(
    "reader.dense",
    "test_candidates_are_found_by_their_codes_and_ordered_by_their_vectors",
    "test_what_is_found_does_not_depend_on_the_order_of_writing",
)
def candidates_by_number(it, space, query, limit, among=None, *, exact=False):
    """In a quantized space only some that happen to come first are candidates."""
    if space.quantization == "float32" or among is not None:
        return it.inner.dense(space, query, limit, among, exact=exact)
    return it.inner.dense(space, query, limit, sorted(_live(it))[:1000])


@breaks("reader.dense", "test_the_dead_never_hide_the_living")
def dead_codes_hide_the_living(it, space, query, limit, among=None, *, exact=False):
    """Candidates are taken among all codes, dead or alive."""
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    if space.quantization == "float32" or not hits or among is not None:
        return hits
    return tuple(hit for hit in _every(it, space, query)[: 100 + limit] if hit.entry in _live(it))[:limit]


@breaks("write.put_vectors", "test_a_vector_that_is_put_again_is_found_where_it_is_now")
def codes_are_never_replaced(it, space, rows):
    """In a quantized space a vector that is put again is found where it was."""
    there = it.inner._state.vectors.get(space, {}) if space.quantization != "float32" else {}
    it.inner.put_vectors(space, [row for row in rows if row.entry_hash not in there])


@breaks("reader.lexical", "test_hostile_queries_never_raise")
def queries_are_a_language(it, terms, *given):
    """Quotation marks in a query mean something."""
    if any('"' in term for term in terms):
        raise AdapterError("unterminated string")
    return it.inner.lexical(terms, *given)


@breaks("reader.lexical", "test_no_terms_no_hits")
def nothing_finds_all(it, terms, limit, *given):
    """A query without words finds everything."""
    hits = it.inner.lexical(terms, limit, *given)
    return hits if terms or given else tuple(ArmHit(number, 0.0) for number in sorted(_live(it))[:limit])


@breaks("reader.lexical", "test_terms_are_joined_by_or")
def all_words_must_be_there(it, terms, limit, *given):
    """Terms are joined by AND."""
    hits = it.inner.lexical(terms, limit, *given)
    return tuple(
        hit
        for hit in hits
        if all(hit.entry in {each.entry for each in it.inner.lexical([term], MOST)} for term in terms)
    )


@breaks("reader.lexical", "test_the_rarer_term_and_the_fuller_match_come_first")
def worst_match_first(it, *given):
    """Lexical hits are ordered the wrong way round."""
    return it.inner.lexical(*given)[::-1]


def _over(it, words_of):
    """Scores over live entries by other words."""
    state = it.inner._state
    return {
        state.numbers[key]: words_of(state.entries[key], state.texts[state.entries[key].text_hash])
        for key in state.live()
    }


def _ranked(scores, limit):
    return tuple(ArmHit(*each) for each in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])


@breaks("reader.lexical", "test_title_and_headings_are_searched", "test_new_content_under_an_old_id_is_what_is_found")
def the_body_alone(it, terms, limit, among=None):
    """Titles and headings are not searched."""
    hits = it.inner.lexical(terms, MOST, among)
    it.inner.lexical(terms, limit)
    found = bm25.scores(_over(it, lambda _entry, text: bm25.words(text)), terms)
    return _ranked({hit.entry: found[hit.entry] for hit in hits if hit.entry in found}, limit)


@breaks("reader.lexical", "test_case_and_scripts_without_word_breaks")
def capitals_matter(it, terms, *given):
    """Words are compared with their capitals."""
    texts = "\n".join(it.inner._state.texts.values())
    return it.inner.lexical([term for term in terms if term in texts], *given)


@breaks("reader.lexical", "test_the_order_is_total_and_the_same_after_reopening")
def lexical_ties_by_chance(it, terms, limit, *given):
    """Equal lexical scores come in another order each time."""
    it.kept["asked"]["times"] = turn = it.kept["asked"].get("times", 0) + 1
    it.inner.lexical(terms, limit, *given)
    hits = it.inner.lexical(terms, MOST, *given)
    return tuple(sorted(hits, key=lambda hit: (-round(hit.score, 9), hit.entry * (1 if turn % 2 else -1))))[:limit]


@breaks("reader.lexical", "test_scores_after_a_delete_are_those_of_a_fresh_index")
def the_dead_count_as_rare(it, terms, limit, among=None):
    """How rare a word is counts over everything that was ever put; it says that it does not."""
    hits = it.inner.lexical(terms, limit, among)
    state = it.inner._state
    every = {
        state.numbers[key]: bm25.words("\n".join((each.title, *each.headings, state.texts[each.text_hash])))
        for key, each in state.entries.items()
    }
    scores = bm25.scores(every, terms)
    return tuple(
        sorted((replace(hit, score=scores[hit.entry]) for hit in hits), key=lambda hit: (-hit.score, hit.entry))
    )


@breaks("reader.lexical", "test_a_large_index_still_finds_what_is_rare_and_what_is_common")
def common_words_find_nothing(it, terms, *given):
    """A word that most texts hold is never looked for."""
    live = len(_live(it))
    rare = [term for term in terms if live < MOST or len(it.inner.lexical([term], MOST)) < live / 2]
    return it.inner.lexical(rare, *given) if rare else ()


@breaks("reader.dense", "test_a_parent_in_one_document_is_found_where_another_has_it_as_a_chunk")
def one_entry_a_text(it, space, query, limit, among=None, *, exact=False):
    """Whether a text may be found is kept by the text: what is context anywhere is found nowhere."""
    state = it.inner._state
    context = {state.entries[key].text_hash for key in state.placed() if not state.entries[key].embed}
    hidden = {state.numbers[key] for key in state.live() if state.entries[key].text_hash in context}
    return tuple(hit for hit in it.inner.dense(space, query, limit, among, exact=exact) if hit.entry not in hidden)


@breaks("reader.dense", "test_an_occurrence_that_turns_into_context_is_found_no_more")
def alive_by_text(it, space, query, limit, among=None, *, exact=False):
    """An entry is alive as long as some chunk has its text, embedded or not."""
    state = it.inner._state
    texts = {state.entries[key].text_hash for key in state.placed()}
    names = {number: key for key, number in state.numbers.items()}
    hits = it.inner.dense(space, query, limit, among, exact=exact)
    every = _every(it, space, query) if among is None else hits
    return tuple(hit for hit in every if state.entries[names[hit.entry]].text_hash in texts)[:limit]
