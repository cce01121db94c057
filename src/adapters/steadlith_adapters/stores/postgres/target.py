"""Which index on which server, from settings: and that no password is ever shown.

1. A password comes from where libpq looks for one (PGPASSWORD, PGPASSFILE, the service file), or from the variable that
   `dsn_env` names. One in the configuration is refused without being repeated.
2. What is shown of a target is `place`: host, port, database and schema.
3. `schema` is a plain name, so that it reads the same in a message, in `psql` and in SQL.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steadlith_adapters.settings import Table
from steadlith_core.errors import AdapterError, ConfigError

if TYPE_CHECKING:
    from steadlith_core.ports import Settings

APPLICATION = "steadlith"
PARTS = ("service", "host", "port", "dbname", "user", "sslmode", "sslrootcert", "sslcert", "sslkey")
"""What a connection is named by, as libpq calls it."""
WAYS = ("dsn", "dsn_env")
TUNING = ("schema", "ann", "ann_from", "ef_search", "connect_timeout", "statement_timeout", "lock_timeout")
SECRETS = ("password", "sslpassword", "passfile")
INSTEAD = (
    "a password stands in PGPASSWORD, in a file that PGPASSFILE names, in libpq's service file, or in the whole "
    "connection string of the variable that dsn_env names"
)
VARIABLE = re.compile(r"STEADLITH_[A-Z0-9_]+")
SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
SSLMODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
ANN = ("none", "hnsw")
# A host that went away is noticed within about a minute, on either side.
KEEPALIVES = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


@dataclass(frozen=True, slots=True)
class Target:
    """One index. `conninfo` may hold a password and is never shown; timeouts are seconds, 0 for none."""

    conninfo: str = field(repr=False)
    schema: str
    place: str
    ann: str = "none"
    ann_from: int = 10_000
    ef_search: int = 100
    statement_timeout: int = 600
    lock_timeout: int = 30


def check(settings: Settings) -> None:
    """Refuse settings that no target can be made of; reads no secret."""
    _described(settings)


def target(settings: Settings) -> Target:
    """The index that these settings name."""
    from psycopg import conninfo

    table, described = _described(settings)
    parts = _from_variable(table) if "dsn_env" in settings else described
    timeout = table.integer("connect_timeout", 10, least=1, most=3600)
    made = conninfo.make_conninfo("", **{**KEEPALIVES, **parts, "connect_timeout": timeout})
    schema = _schema(table)
    return Target(
        conninfo=made,
        schema=schema,
        place=_place(parts, schema),
        ann=_one_of(table, "ann", "none", ANN),
        ann_from=table.integer("ann_from", 10_000, least=1, most=10**9),
        ef_search=table.integer("ef_search", 100, least=1, most=1000),
        statement_timeout=table.integer("statement_timeout", 600, least=0, most=10**6),
        lock_timeout=table.integer("lock_timeout", 30, least=1, most=10**6),
    )


def _described(settings: Settings) -> tuple[Table, dict[str, Any]]:
    """The settings, checked, and the parts of the connection that they name themselves."""
    table = Table("store 'postgres'", settings)
    for key in SECRETS:
        if key in settings:
            raise ConfigError(f"store 'postgres': {key} is not a setting; {INSTEAD}")
    table.only(*PARTS, *WAYS, *TUNING)
    given = [key for key in PARTS if key in settings]
    ways = [key for key in WAYS if key in settings] + given[:1]
    if len(ways) > 1:
        raise ConfigError(f"store 'postgres': {ways[0]} and {ways[1]} both say where the index is; keep one of them")
    _schema(table)
    if "dsn" in settings:
        return table, _read(table.text("dsn", ""), "dsn", may_be_secret=False)
    if "dsn_env" in settings:
        name = table.text("dsn_env", "")
        if not VARIABLE.fullmatch(name):
            raise table.wrong("dsn_env", name, "the name of a variable that starts with STEADLITH_")
        return table, {}
    parts: dict[str, Any] = {key: table.text(key, "") for key in given if key not in {"port", "sslmode"}}
    if "port" in settings:
        parts["port"] = table.integer("port", 5432, least=1, most=65535)
    if "sslmode" in settings:
        parts["sslmode"] = _one_of(table, "sslmode", "prefer", SSLMODES)
    return table, parts


def _from_variable(table: Table) -> dict[str, Any]:
    name = table.text("dsn_env", "")
    value = os.environ.get(name)
    if not value:
        message = (
            f"store 'postgres': the variable {name}, which dsn_env names, is not set; put the connection string there"
        )
        raise ConfigError(message)
    return _read(value, name, may_be_secret=True)


def _read(dsn: str, name: str, *, may_be_secret: bool) -> dict[str, Any]:
    """The parts of a connection string; an error about it never repeats it."""
    import psycopg
    from psycopg import conninfo

    try:
        parts: dict[str, Any] = dict(conninfo.conninfo_to_dict(dsn))
    except psycopg.Error:
        # `from None`: libpq's own message repeats the part that it cannot read, which may be the password.
        message = f"store 'postgres': {name} is no connection string; write host=... dbname=... or postgresql://..."
        raise ConfigError(message) from None
    if not may_be_secret and any(key in parts for key in SECRETS):
        raise ConfigError(f"store 'postgres': {name} holds a password; take it out: {INSTEAD}")
    return parts


def _schema(table: Table) -> str:
    name = table.text("schema", "steadlith")
    if not SCHEMA.fullmatch(name) or name.startswith("pg_") or name == "information_schema":
        wanted = "lower-case letters, digits and underscores, at most 63, not beginning with a digit or pg_"
        raise table.wrong("schema", name, wanted)
    return name


def _one_of(table: Table, key: str, default: str, choices: tuple[str, ...]) -> str:
    value = table.text(key, default)
    if value not in choices:
        raise table.wrong(key, value, f"one of {', '.join(choices)}")
    return value


def _place(parts: dict[str, Any], schema: str) -> str:
    """What messages call the index."""
    server = parts.get("host") or parts.get("hostaddr") or os.environ.get("PGHOST") or parts.get("service") or "local"
    port = parts.get("port") or os.environ.get("PGPORT")
    database = parts.get("dbname") or os.environ.get("PGDATABASE")
    where = f"{server}{f':{port}' if port else ''}{f'/{database}' if database else ''}"
    return f"schema {schema} of postgresql://{where}"


def missing_driver(error: ImportError) -> AdapterError:
    """The error where psycopg is not installed."""
    return AdapterError(f"the postgres store needs psycopg ({error}): pip install 'steadlith[postgres]'")
