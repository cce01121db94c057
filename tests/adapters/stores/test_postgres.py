import os
import struct
from typing import ClassVar

import psycopg
import pytest

from steadlith_adapters.stores.postgres import FACTORY, forms
from steadlith_adapters.stores.postgres.session import Sent, Session
from steadlith_conformance.stores import StoreFactorySuite, StoreSuite
from steadlith_conformance.stores.opening import Part

DSN = "STEADLITH_TEST_POSTGRES"
COLUMNS = {
    Part.TEXT: ("text", "body"),
    Part.DOCUMENT_ROOT: ("document_version", "root"),
    Part.HEAD_ROOT: ("generation", "corpus_root"),
}
PAGE = 8192
_FILES = """
    SELECT pg_relation_filepath(oid) FROM pg_class
    WHERE relkind IN ('r', 't') AND (
        relnamespace = to_regnamespace(%s)
        OR oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = to_regnamespace(%s)))
    ORDER BY relname"""


class TestPostgresStore(StoreSuite):
    MORE: ClassVar = {}

    @pytest.fixture
    def settings_of(self, postgres_settings):
        made = {}

        def settings(name):
            if name not in made:
                made[name] = postgres_settings(name, **self.MORE)
            return made[name]

        return settings

    @pytest.fixture
    def make_store(self, settings_of, tmp_path):
        opened = []

        def open_store(name="index", *, readonly=False):
            store = FACTORY.open(settings_of(name), root=str(tmp_path), readonly=readonly)
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()

    @pytest.fixture
    def raw_read(self, settings_of):
        """The pages of every table, dead rows and holes as well; and texts, which the server may have compressed."""

        def read(name="index"):
            schema = settings_of(name)["schema"]
            with psycopg.connect(os.environ[DSN], autocommit=True) as connection:
                connection.execute("CHECKPOINT")
                files = connection.execute(_FILES, (schema, schema)).fetchall()
                read = "SELECT pg_read_binary_file(%s)"
                content = [connection.cursor(binary=True).execute(read, file).fetchone()[0] for file in files]
                if files:
                    texts = connection.cursor(binary=True).execute(f"SELECT body FROM {schema}.text ORDER BY text")
                    content += [text for (text,) in texts]
            return b"".join(without_hints(each) if len(each) % PAGE == 0 else each for each in content)

        return read

    @pytest.fixture
    def raw_write(self, settings_of):
        def change(part, old, new, name="index"):
            schema = settings_of(name)["schema"]
            with psycopg.connect(os.environ[DSN], autocommit=True) as connection:
                session = Session(connection, "the test", "public")
                session.run(f"SET search_path = {schema}, public")
                if part is Part.VECTOR:
                    old, new = (Sent(value) for value in forms.full([old, new], len(old) // 4))
                    places, kind = [("full_1_1", "vector")], "public.vector"
                else:
                    places, kind = [COLUMNS[part]], "bytea"
                for table, column in places:
                    session.run(f"UPDATE {table} SET {column} = %s::{kind} WHERE {column} = %s::{kind}", new, old)
                    assert session.changed() > 0, part

        return change


def without_hints(pages):
    """Pages of a table without what the server notes in them for itself while it reads: its own numbers, and which rows
    it knows to be visible. Bytes of rows, living and dead, and of holes stay.
    """
    clean = bytearray(pages)
    for start in range(0, len(pages), PAGE):
        lower, special = struct.unpack_from("<H2xH", pages, start + 12)
        for line in range(start + 24, start + min(lower, special), 4):
            (item,) = struct.unpack_from("<I", pages, line)
            offset, length = item & 0x7FFF, item >> 17
            if length:
                clean[start + offset + 18 : start + offset + 22] = bytes(4)
        clean[start : start + 24] = bytes(24)
    return bytes(clean)


@pytest.mark.slow
class TestPostgresGraphStore(TestPostgresStore):
    """All rules again, with a graph beside every vector table from its first vector on."""

    MORE: ClassVar = {"ann": "hnsw", "ann_from": 1}


class TestPostgresFactory(StoreFactorySuite):
    @pytest.fixture
    def factory(self):
        return FACTORY

    @pytest.fixture
    def settings(self, postgres_settings):
        return postgres_settings()
