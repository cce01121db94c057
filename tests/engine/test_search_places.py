"""A search in a place: what passes is decided before anything is cut off, by occurrence."""

import pytest

from steadlith_core.errors import UsageError


@pytest.fixture
def filled(make_site):
    site = make_site()
    for number in range(80):
        site.write(f"crowd/{number}.md", f"# Crowd {number}\n\nbridges of the crowd, number {number}\n")
    for number in range(6):
        site.write(f"few/deep/{number}.md", f"# Few {number}\n\na bridge among many, number {number}\n")
    for path in ("few/shared.md", "crowd/shared.md"):
        site.write(path, "# Shared\n\nthe same words about a bridge\n")
    site.apply()
    return site.open()


def found(index, *places, limit=7, **options):
    return {hit.document.path for hit in index.search("bridges crowd", limit=limit, places=places, **options).hits}


def test_as_many_are_found_in_a_small_folder_as_it_has(filled):
    assert not any(path.startswith("few/") for path in found(filled))
    few = {f"few/deep/{number}.md" for number in range(6)} | {"few/shared.md"}
    for place in ("few", "few/", "docs:few"):
        assert found(filled, place) == few
    assert found(filled, "few", exact=True) == few
    assert found(filled, "few/deep", "few/shared.md", limit=50) == few


def test_a_text_that_stands_elsewhere_too_is_answered_from_the_place_alone(filled):
    assert found(filled, "few/shared.md") == {"few/shared.md"}
    assert found(filled, "crowd/shared.md") == {"crowd/shared.md"}


def test_a_place_without_documents_has_no_hits_and_a_source_that_is_not_there_is_an_error(filled):
    assert found(filled, "nowhere") == set()
    with pytest.raises(UsageError, match=r"--in 'wiki:x': there is no source 'wiki'; there are docs"):
        found(filled, "wiki:x")
    with pytest.raises(UsageError, match=r"--in '': names no place"):
        found(filled, "")
