"""One schema, one index: whose it is, how it is made, moved out of the way, and told apart from others."""

import os
from contextlib import closing

import psycopg
import pytest

from steadlith_adapters.stores.postgres import FACTORY, schema
from steadlith_conformance.samples import SPACE, doc, generation, pieces, vector, write
from steadlith_core.errors import AdapterError, ForeignFile, StaleHead, StoreCorrupt, UsageError
from steadlith_core.ports import Ailment
from steadlith_core.state.moving import EMPTY

DSN = "STEADLITH_TEST_POSTGRES"


@pytest.fixture
def settings(postgres_settings):
    return postgres_settings()


def open_store(settings, *, readonly=False):
    return FACTORY.open(settings, root="/", readonly=readonly)


def execute(*statements):
    with psycopg.connect(os.environ[DSN], autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def schemas(name):
    return {each for (each,) in execute(f"SELECT nspname FROM pg_namespace WHERE nspname LIKE '{name}%'")}


def test_only_a_write_makes_the_schema(settings):
    for readonly in (True, False):
        with closing(open_store(settings, readonly=readonly)) as store:
            assert store.head().generation == 0
            store.snapshot().close()
            assert store.removable(0).is_nothing
    assert schemas(settings["schema"]) == set()
    with closing(open_store(settings)) as store:
        store.begin(store.head()).abort()
    assert schemas(settings["schema"]) == {settings["schema"]}
    with closing(open_store(settings, readonly=True)) as store:
        assert store.head().generation == 0
        assert list(store.snapshot().problems(full=True)) == []


def test_a_schema_that_an_administrator_made_is_filled(settings):
    execute(f"CREATE SCHEMA {settings['schema']}")
    with closing(open_store(settings)) as store:
        assert write(store, {doc("a.md"): pieces("one")}).generation == 1


def test_tables_of_another_program_are_left_alone(settings):
    name = settings["schema"]
    execute(f"CREATE SCHEMA {name}", f"CREATE TABLE {name}.text(a int)", f"CREATE VIEW {name}.v AS SELECT 1")
    for ask in (
        lambda: open_store(settings),
        lambda: open_store(settings, readonly=True),
        lambda: FACTORY.set_aside(settings, root="/"),
    ):
        with pytest.raises(ForeignFile, match=r"tables of another program \(text, v\).*set another store\.schema"):
            ask()
    assert schemas(name) == {name}


@pytest.mark.parametrize(
    ("version", "error", "message"),
    [
        (schema.SCHEMA_VERSION + 1, ForeignFile, "made by a newer Steadlith .*upgrade"),
        (schema.OLDEST_READABLE - 1, StoreCorrupt, "made by an older Steadlith"),
    ],
)
def test_another_version_is_refused_before_anything_is_changed(settings, version, error, message):
    with closing(open_store(settings)) as store:
        write(store, {doc("a.md"): pieces("one")})
    execute(f"UPDATE {settings['schema']}.{schema.MARK} SET schema_version = {version}")
    for readonly in (True, False):
        with pytest.raises(error, match=message):
            open_store(settings, readonly=readonly)


def test_an_index_of_an_older_schema_is_migrated_by_the_first_write(settings, monkeypatch):
    with closing(open_store(settings)) as store:
        head = write(store, {doc("a.md"): pieces("one")})
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 3)
    added = {1: ("CREATE TABLE later(a integer)",), 2: ("ALTER TABLE later ADD b integer",)}
    monkeypatch.setattr(schema, "MIGRATIONS", added)
    with closing(open_store(settings, readonly=True)) as store:
        assert store.head() == head
    version = f"SELECT schema_version FROM {settings['schema']}.{schema.MARK}"
    assert execute(version) == [(1,)]
    with closing(open_store(settings)) as store:
        write(store, {doc("b.md"): pieces("two")})
    assert execute(version, version) == [(3,)]
    assert execute(f"SELECT count(b) FROM {settings['schema']}.later") == [(0,)]


def test_a_half_made_schema_is_damaged(settings):
    with closing(open_store(settings)) as store:
        write(store, {doc("a.md"): pieces("one")})
    execute(f"DELETE FROM {settings['schema']}.{schema.MARK}")
    with pytest.raises(StoreCorrupt, match=r"the row of steadlith_index is missing.*apply again"):
        open_store(settings)


def test_nothing_of_another_schema_is_taken_for_ours(settings):
    """A table that is lost is not looked for elsewhere, whatever the role's search path says."""
    with closing(open_store(settings)) as store:
        write(store, {doc("a.md"): pieces("one")})
    execute(
        "DROP TABLE IF EXISTS public.text",
        "CREATE TABLE public.text(text bigint, text_hash bytea, body bytea)",
        f"DROP TABLE {settings['schema']}.text",
    )
    try:
        with (
            closing(open_store(settings)) as store,
            closing(store.snapshot()) as reader,
            pytest.raises(StoreCorrupt, match='relation "text" does not exist'),
        ):
            reader.texts([pieces("one")[0].text_hash])
    finally:
        execute("DROP TABLE public.text")


def test_a_damaged_index_is_renamed_and_nothing_of_it_lost(settings):
    name = settings["schema"]
    for number in (1, 2):
        with closing(open_store(settings)) as store:
            write(store, {doc("a.md"): pieces("one")})
        moved = FACTORY.set_aside(settings, root="/")
        assert moved.startswith(f"schema {name}_damaged_{number} of postgresql://")
    assert schemas(name) == {f"{name}_damaged_1", f"{name}_damaged_2"}
    aside = [each for each in FACTORY.troubles(settings, root="/") if each.kind is Ailment.SET_ASIDE]
    assert [each.place.split()[1] for each in aside] == [f"{name}_damaged_1", f"{name}_damaged_2"]
    assert f"DROP SCHEMA {name}_damaged_1 CASCADE" in aside[0].way_out
    with closing(open_store({**settings, "schema": f"{name}_damaged_1"}, readonly=True)) as store:
        assert store.head().generation == 1
        assert len(store.snapshot().dense(SPACE, vector("one"), 5)) == 1
    with closing(open_store(settings, readonly=True)) as store:
        assert store.head().generation == 0


def test_a_store_that_is_open_finds_the_index_that_took_the_place(settings):
    with closing(open_store(settings)) as store, closing(open_store(settings)) as other:
        write(store, {doc("a.md"): pieces("one")})
        FACTORY.set_aside(settings, root="/")
        assert store.head().generation == 0
        write(other, {doc("b.md"): pieces("two")})
        assert [each.id for each in store.snapshot().documents()] == [doc("b.md")]


def test_an_index_that_was_replaced_under_a_write_is_not_written_to(settings):
    """Both are at generation 1, and their roots tell."""
    with closing(open_store(settings)) as store, closing(open_store(settings)) as other:
        head = write(store, {doc("a.md"): pieces("one")})
        transaction = store.begin(head)
        FACTORY.set_aside(settings, root="/")
        write(other, {doc("b.md"): pieces("two")})
        with pytest.raises(StaleHead, match=r"the index is at generation 1 .* not at 1 "):
            transaction.commit(generation(head, EMPTY, 0))
        assert [each.number for each in other.history()] == [1]


def test_a_copy_is_the_server_s_to_make(settings, tmp_path):
    with closing(open_store(settings)) as store:
        write(store, {doc("a.md"): pieces("one")})
        with pytest.raises(UsageError, match=f"pg_dump --schema={settings['schema']}"):
            store.backup(str(tmp_path / "copy"))
    assert list(tmp_path.iterdir()) == []


def test_without_pgvector_and_the_right_to_add_it_the_way_out_is_named(postgres_server, settings, monkeypatch):
    name = settings["schema"]
    execute(f"CREATE DATABASE {name}", f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
    execute(f"GRANT CREATE ON DATABASE {name} TO {name}")
    monkeypatch.setenv("STEADLITH_BARE", f"{postgres_server.dsn} dbname={name} user={name} password=x")
    bare = {**settings, "dsn_env": "STEADLITH_BARE"}
    kinds = {trouble.kind: trouble for trouble in FACTORY.troubles(bare, root="/")}
    assert "CREATE EXTENSION vector" in kinds[Ailment.EXTENSION].way_out
    with closing(open_store(bare)) as store, pytest.raises(AdapterError, match="let an administrator run: CREATE EXT"):
        write(store, {doc("a.md"): pieces("one")})
    assert schemas(name) == set()


def test_a_role_that_may_only_read_reads_and_is_told_what_it_may_not(postgres_server, settings, monkeypatch):
    name = settings["schema"]
    with closing(open_store(settings)) as store:
        head = write(store, {doc("a.md"): pieces("one")})
    execute(
        f"CREATE ROLE {name} LOGIN PASSWORD 'x'",
        f"GRANT USAGE ON SCHEMA {name} TO {name}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO {name}",
    )
    monkeypatch.setenv("STEADLITH_READS", f"{postgres_server.dsn} user={name} password=x")
    with closing(open_store({**settings, "dsn_env": "STEADLITH_READS"})) as store:
        assert store.head() == head
        assert list(store.snapshot().problems(full=True)) == []
        assert len(store.snapshot().dense(SPACE, vector("one"), 5)) == 1
        with pytest.raises(AdapterError, match=r"the role may not do that .*grant it"):
            write(store, {doc("b.md"): pieces("two")})
