"""How many pages a small change writes: counted in the file, table by table."""

from collections import Counter
from contextlib import closing

import apsw
import pytest

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_conformance.samples import doc, pieces, write

DOCUMENTS, EDITED, PAGE = 500, 25, 8192


def open_store(folder):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=False)


def made(number, word):
    """Two dozen chunks: the row of such a document takes a kilobyte, that of its spans a third of one."""
    return pieces(*(f"{number} {chunk} {word if chunk == 7 else 'same'}" for chunk in range(24)))


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Pages of each table that are other ones after an edit of one chunk in each of some documents."""
    folder = tmp_path_factory.mktemp("edited")
    path = folder / "index.sqlite3"
    with closing(open_store(folder)) as store:
        write(store, {doc(f"{number:04}.md"): made(number, "old") for number in range(DOCUMENTS)})
    before = path.read_bytes()
    with closing(open_store(folder)) as store:
        numbers = range(0, DOCUMENTS, DOCUMENTS // EDITED)
        write(store, {doc(f"{number:04}.md"): made(number, "new") for number in numbers})
    after = path.read_bytes()
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    names = dict(connection.execute("SELECT pageno, name FROM dbstat").fetchall())
    connection.close()
    starts = range(0, len(after), PAGE)
    return Counter(names[at // PAGE + 1] for at in starts if before[at : at + PAGE] != after[at : at + PAGE])


def test_a_new_version_is_written_beside_no_old_one(changed):
    """The page of each old row, which ends there; the new rows together, behind all others; and their indexes."""
    assert changed["document_version"] <= EDITED + 8
    assert changed["span"] <= EDITED + 5
    assert changed["sqlite_autoindex_document_version_1"] + changed["sqlite_autoindex_span_1"] <= 8


def test_a_vector_that_is_searched_no_more_is_a_bit(changed):
    assert changed["vec_1_1_metadatachunks00"] <= 1
