"""The sessions on an index: one that reads, one that writes, and whose schema it is.

1. A schema is ours by the table `schema.MARK`, and of this version by its row. An absent one, or one without any table,
   is not made yet.
2. A schema of another program or of a newer version is refused before anything is changed.
3. All tables are made in one transaction, by the first write; from then on a head is there, at generation 0.
4. Every session finds our tables by `search_path` alone, which names our schema and nothing else; what pgvector brings
   is named with its own schema.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import border, guards, schema
from steadlith_adapters.stores.postgres.session import Session
from steadlith_adapters.stores.postgres.target import APPLICATION, missing_driver
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.postgres.target import Target

OLDEST_SERVER = 140_000
OLDEST_VECTOR = (0, 8)

# Rows of words lie all over their table. Where these are in memory, be it the operating system's, PostgreSQL 18 hands
# some at a time to another process and waits for it, which takes longer than reading them.
_INTRODUCE = """
    SELECT set_config('search_path', quote_ident(%s), false), set_config('application_name', %s, false),
           set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false),
           set_config('jit', 'off', false), set_config('client_encoding', 'UTF8', false),
           set_config('plan_cache_mode', 'force_custom_plan', false),
           set_config('effective_io_concurrency', '0', false),
           set_config('tcp_keepalives_idle', '60', false), set_config('tcp_keepalives_interval', '10', false),
           set_config('tcp_keepalives_count', '3', false)"""
_FACTS = """
    SELECT current_setting('server_version_num')::integer, current_setting('server_encoding'),
           (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
            WHERE e.extname = 'vector'),
           (SELECT extversion FROM pg_extension WHERE extname = 'vector')"""
_TABLES = """
    SELECT c.relname::text FROM pg_namespace n
    LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    WHERE n.nspname = %s ORDER BY c.relname"""
_VERSION = f"SELECT schema_version FROM {schema.MARK}"  # noqa: S608


def open_session(target: Target, *, application: str = APPLICATION) -> Session:
    """A new session on the server, whatever it holds."""
    try:
        import psycopg
    except ImportError as error:
        raise missing_driver(error) from error

    try:
        connection = psycopg.connect(target.conninfo, autocommit=True)
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        message = f"{target.place}: no connection ({said}); check the server, the role, its password and sslmode"
        raise border.ConnectionLost(message) from error
    session = Session(connection, target.place, None)
    with closed_on_error(session):
        timeouts = (f"{seconds}s" for seconds in (target.statement_timeout, target.lock_timeout))
        session.run(_INTRODUCE, target.schema, application, *timeouts)
        version, _, session.vector, _ = session.run(_FACTS)[0]
        if version < OLDEST_SERVER:
            raise AdapterError(f"{target.place}: PostgreSQL {version // 10_000} is too old; 14 or newer is needed")
    return session


def reading(target: Target) -> Session | None:
    """A session to read with; none when there is nothing made to read."""
    session = open_session(target)
    with closed_on_error(session):
        if is_made(session, target):
            return session
    session.close()
    return None


def writing(target: Target) -> Session:
    """A session on a schema with all of our tables; makes them if need be."""
    session = open_session(target)
    with closed_on_error(session):
        if not is_made(session, target) or session.value(_VERSION) < schema.SCHEMA_VERSION:
            _make(session, target)
    return session


def is_made(session: Session, target: Target) -> bool:
    """Whether the schema has our tables; raises for one that is somebody else's."""
    names = [name for (name,) in session.run(_TABLES, target.schema) if name is not None]
    if not names:
        return False
    if schema.MARK not in names:
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        raise border.foreign(target.place, f"it holds tables of another program ({shown}); leave them alone")
    row = session.one(_VERSION)
    if row is None:
        raise border.damaged(target.place, f"the row of {schema.MARK} is missing")
    version = row[0]
    readable = f"{schema.OLDEST_READABLE} to {schema.SCHEMA_VERSION}"
    if version > schema.SCHEMA_VERSION:
        whose = f"made by a newer Steadlith (schema {version}, this one reads {readable}); upgrade"
        raise border.foreign(target.place, whose)
    if version < schema.OLDEST_READABLE:
        whose = f"made by an older Steadlith (schema {version}, this one reads {readable})"
        raise border.damaged(target.place, whose)
    return True


@contextmanager
def transaction(session: Session, begin: str = "BEGIN") -> Iterator[None]:
    """A transaction that commits at the end of the body, or leaves nothing if that raises."""
    session.run(begin)
    try:
        yield
    except BaseException:
        if not session.is_lost:
            session.run("ROLLBACK")
        raise
    session.run("COMMIT")


@contextmanager
def closed_on_error(session: Session) -> Iterator[None]:
    """Close `session` if the body raises."""
    try:
        yield
    except BaseException:
        session.close()
        raise


def _make(session: Session, target: Target) -> None:
    with transaction(session):
        session.run("SELECT pg_advisory_xact_lock(%s)", guards.key(target.schema, guards.MAKING))
        if is_made(session, target):  # asked again: another writer may have been first
            _migrate(session)
            return
        _, encoding, vector, version = session.run(_FACTS)[0]
        if encoding != "UTF8":
            raise AdapterError(f"{target.place}: the database is in {encoding}; words need one in UTF8")
        if vector is None:
            _add_vector(session)
            _, _, vector, version = session.run(_FACTS)[0]
        if tuple(map(int, version.split(".")[:2])) < OLDEST_VECTOR:
            message = f"{target.place}: pgvector {version} is too old; ALTER EXTENSION vector UPDATE to 0.8 or newer"
            raise AdapterError(message)
        if not session.run("SELECT 1 FROM pg_namespace WHERE nspname = %s", target.schema):
            session.run(f'CREATE SCHEMA "{target.schema}"')
        for statement in schema.CREATE:
            session.run(statement)
        session.vector = vector


def _add_vector(session: Session) -> None:
    try:
        session.run("CREATE EXTENSION vector SCHEMA public")
    except AdapterError as error:
        message = (
            f"{session.place}: pgvector cannot be added to this database ({error}); install it on the server, and let "
            "an administrator run: CREATE EXTENSION vector"
        )
        raise AdapterError(message) from error


def _migrate(session: Session) -> None:
    for version in range(session.value(_VERSION), schema.SCHEMA_VERSION):
        for statement in schema.MIGRATIONS[version]:
            session.run(statement)
        session.run(f"UPDATE {schema.MARK} SET schema_version = %s", version + 1)  # noqa: S608
