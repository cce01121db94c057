"""Stores that forget what a generation was called, why it was made, and by which configuration."""

from dataclasses import replace

from sabotage.saboteurs import STORES

from steadlith_core.errors import GenerationGone

breaks, also = STORES.breaks, STORES.also


@breaks("store.history", "test_a_generation_comes_back_as_it_was_committed")
def reasons_are_not_kept(it):
    """Why a generation was made is not kept."""
    return tuple(replace(each, why="") for each in it.inner.history())


@breaks("store.history", "test_a_generation_comes_back_as_it_was_committed")
def empty_is_none(it):
    """An empty configuration comes back as none."""
    return tuple(replace(each, configuration=each.configuration or None) for each in it.inner.history())


@breaks("store.tag", "test_a_name_leads_to_its_generation_until_it_is_moved_or_taken_away")
def names_never_move(it, name, generation):
    """A name that is in use stays where it is."""
    if generation is None or name not in it.inner.tags():
        it.inner.tag(name, generation)


@breaks("store.tags", "test_a_name_leads_to_its_generation_until_it_is_moved_or_taken_away")
def names_as_they_were_given(it):
    """Names are listed by their generations."""
    return dict(sorted(it.inner.tags().items(), key=lambda item: (item[1], item[0])))


@breaks("store.tag", "test_only_a_kept_generation_is_given_a_name")
def names_of_nothing(it, name, generation):
    """A generation that is not kept gets a name, which leads nowhere."""
    try:
        it.inner.tag(name, generation)
    except GenerationGone:
        it.inner._name({**it.inner.tags(), name: generation})


@breaks("store.compact", "test_names_of_generations_that_are_compacted_away_go_with_them")
def names_outlive_their_generations(it, expected, keep_from, *, scrub=False):
    """The names of generations that are compacted away stay."""
    tags = it.inner.tags()
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    if tags:
        it.inner._name(tags)
    return done
