"""Settings of the postgres store: what is taken, what is refused, and that no password is ever shown."""

import os
import re
import subprocess
import sys
import traceback
from contextlib import closing

import pytest

from steadlith_adapters.stores.postgres import FACTORY
from steadlith_adapters.stores.postgres.target import check, target
from steadlith_conformance.samples import doc, pieces, write
from steadlith_core.errors import AdapterError, ConfigError, SteadlithError

SECRET = "hunter2-0451"
DSN = "STEADLITH_TEST_POSTGRES"


def open_store(settings, *, readonly=True):
    return FACTORY.open(settings, root="/", readonly=readonly)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hots": "x"}, r"unknown setting 'hots' \(known: service, host"),
        ({"schema": "Mine"}, r"schema = 'Mine' is not usable; expected lower-case letters"),
        ({"schema": "a; DROP TABLE x"}, r"schema = 'a; DROP TABLE x' is not usable"),
        ({"schema": "pg_mine"}, "not beginning with a digit or pg_"),
        ({"schema": "x" * 64}, "at most 63"),
        ({"port": 0}, "port = 0 is not usable; expected a whole number from 1 to 65535"),
        ({"port": "5432"}, "port = '5432' is not usable"),
        ({"sslmode": "maybe"}, "expected one of disable, allow, prefer, require, verify-ca, verify-full"),
        ({"host": "h", "dsn": "host=h"}, "dsn and host both say where the index is; keep one of them"),
        ({"dsn": "host=h", "dsn_env": "STEADLITH_PG"}, "dsn and dsn_env both say where the index is"),
        ({"dsn_env": "DATABASE_URL"}, "expected the name of a variable that starts with STEADLITH_"),
        ({"host": ""}, "host = '' is not usable"),
        ({"password": SECRET}, "password is not a setting; a password stands in PGPASSWORD"),
        ({"sslpassword": SECRET}, "sslpassword is not a setting"),
        ({"dsn": f"postgresql://me:{SECRET}@h/db"}, "dsn holds a password; take it out"),
        ({"dsn": f"postgresql://me@h/db?password={SECRET}"}, "dsn holds a password"),
        ({"dsn": f"host=h password={SECRET}"}, "dsn holds a password"),
        ({"dsn": f"host=h password = '{SECRET}'"}, "dsn holds a password"),
        ({"dsn": f"host=h pasword={SECRET}"}, "dsn is no connection string"),
        ({"dsn": f"postgresql://me:{SECRET}@h:notaport"}, r"dsn (is no connection string|holds a password)"),
    ],
)
def test_what_cannot_be_used_is_refused_and_no_password_repeated(settings, message):
    for ask in (check, target, lambda each: FACTORY.files(each, root="/")):
        with pytest.raises(ConfigError, match=message) as raised:
            ask(settings)
        assert SECRET not in shown(raised.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ann": "ivf"}, "ann = 'ivf' is not usable; expected one of none, hnsw"),
        ({"statement_timeout": -1}, "statement_timeout = -1 is not usable"),
        ({"lock_timeout": 0}, "lock_timeout = 0 is not usable"),
        ({"ef_search": 5000}, "expected a whole number from 1 to 1000"),
        ({"connect_timeout": True}, "connect_timeout = True is not usable"),
    ],
)
def test_numbers_out_of_range_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        target(settings)


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("STEADLITH_NOT_SET", raising=False)
    with pytest.raises(ConfigError, match="the variable STEADLITH_NOT_SET, which dsn_env names, is not set"):
        open_store({"dsn_env": "STEADLITH_NOT_SET"})
    check({"dsn_env": "STEADLITH_NOT_SET"})  # planning names files, and needs no credential


@pytest.mark.parametrize(
    "dsn",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/db",
        f"host=127.0.0.1 port=1 user=me dbname=db password={SECRET}",
        f"host=127.0.0.1 port=1 pasword={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:1/db?nonsense=1",
        f"postgresql://me:{SECRET}@127.0.0.1:1/db?sslmode=nonsense",
    ],
)
def test_a_password_of_the_variable_is_in_no_error_repr_or_traceback(monkeypatch, dsn):
    monkeypatch.setenv("STEADLITH_PG", dsn)
    settings = {"dsn_env": "STEADLITH_PG"}
    for ask in (
        lambda: open_store(settings),
        lambda: FACTORY.lock(settings, root="/", timeout=0, holder="this test").acquire(),
        lambda: FACTORY.set_aside(settings, root="/"),
    ):
        with pytest.raises(SteadlithError) as raised:
            ask()
        assert SECRET not in shown(raised.value)
    try:
        made = target(settings)
        told = [trouble.message for trouble in FACTORY.troubles(settings, root="/")]
    except ConfigError:
        return  # it cannot be read at all
    assert SECRET not in repr(made) + made.place + "".join(told)


def shown(error):
    """All that a person may see of an error: itself, its causes and where they were raised."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(error.__cause__) + repr(error.__context__)


def test_a_wrong_password_is_told_and_not_shown(postgres_server, postgres_settings, monkeypatch):
    monkeypatch.setenv("STEADLITH_PG", f"{postgres_server.dsn} password={SECRET}")
    settings = postgres_settings() | {"dsn_env": "STEADLITH_PG"}
    with pytest.raises(AdapterError, match="password authentication failed") as raised:
        open_store(settings)
    assert SECRET not in shown(raised.value)
    assert postgres_server.place["password"] not in shown(raised.value)


def test_the_password_comes_from_the_environment_or_from_its_file(postgres_server, postgres_settings, tmp_path):
    place = postgres_server.place
    parts = {key: place[key] for key in ("host", "port", "user", "dbname")}
    file = tmp_path / "pgpass"
    file.write_text(f"{place['host']}:{place['port']}:*:{place['user']}:{place['password']}\n", "utf-8")
    file.chmod(0o600)
    service = tmp_path / "services"
    lines = [f"{key}={place[key]}" for key in ("host", "port", "user", "dbname", "password")]
    service.write_text("\n".join(["[index]", *lines, ""]), "utf-8")
    dsn = f"postgresql://{place['user']}@{place['host']}:{place['port']}/{place['dbname']}?sslmode=prefer"
    for settings, environment in (
        (parts, {"PGPASSWORD": place["password"]}),
        (parts, {"PGPASSFILE": str(file)}),
        ({"service": "index"}, {"PGSERVICEFILE": str(service)}),
        ({"dsn": dsn}, {"PGPASSWORD": place["password"]}),
    ):
        # In a process of its own: libpq reads the environment that the process was started with.
        script = (
            "from steadlith_adapters.stores.postgres import FACTORY\n"
            f"store = FACTORY.open({settings | {'schema': postgres_settings()['schema']}!r}, root='/', readonly=True)\n"
            "print(store.head().generation)\nstore.close()"
        )
        command = [sys.executable, "-W", "error", "-c", script]
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_session_says_what_it_is_and_keeps_its_limits(postgres_settings):
    settings = postgres_settings(statement_timeout=7, lock_timeout=3)
    with closing(open_store(settings, readonly=False)) as store:
        write(store, {doc("a.md"): pieces("one")})
        with closing(store.snapshot()) as reader:
            names = ("application_name", "statement_timeout", "lock_timeout", "transaction_isolation", "search_path")
            shown = [reader._session.value(f"SELECT current_setting('{name}')") for name in names]
    assert shown == ["steadlith", "7s", "3s", "repeatable read", settings["schema"]]


def test_messages_name_host_database_and_schema(postgres_server, postgres_settings):
    settings = postgres_settings()
    place = postgres_server.place
    found = target(settings).place
    assert found == f"schema {settings['schema']} of postgresql://127.0.0.1:{place['port']}/{place['dbname']}"
    assert re.search(r"conninfo", repr(target(settings))) is None


def test_no_file_is_the_store_s(postgres_settings):
    assert FACTORY.files(postgres_settings(), root="/") == ()


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(AdapterError, match=r"pip install 'steadlith\[postgres\]'"):
        open_store({"host": "127.0.0.1"})
