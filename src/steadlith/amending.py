"""Amending a configuration: settings changed in its text, with every comment where it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith_core.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

BEGINNINGS = ('"', "'", "[", "{")
"""Of a string, a list or a table: who begins so means one, and forgot an end."""


def amended(text: str, settings: Iterable[str] = (), dropped: Iterable[str] = ()) -> str:
    """The text with each of `settings` (`embedding.model=...`) set and each key of `dropped` gone.

    A value is TOML (`512`, `true`, `["a", "b"]`, `"text"`); what is none is text, unless it begins as a string, a list
    or a table. Tables that are not there are made. Raises `UsageError` for a setting that cannot be, `ConfigError` for
    a text that is no TOML.
    """
    import tomlkit  # a tenth of a second that only this needs
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals or not key.strip():
                raise UsageError(f"{setting!r}: expected KEY=VALUE, for example embedding.dimensions=512")
            table, name = _find(document, key.strip(), make=True)
            _set(table, name, _value(value.strip(), setting))
        for key in dropped:
            table, name = _find(document, key.strip(), make=False)
            if name not in table:
                raise UsageError(f"{key!r}: the configuration does not set it")
            del table[name]
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ConfigError(f"the configuration is not TOML: {error}") from error


def in_store(text: str, kind: str) -> str:
    """The text with a `[store]` of this type, and no setting of another one's. Raises `ConfigError`."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table = document.setdefault("store", tomlkit.table())
        if not isinstance(table, dict):
            raise ConfigError(f"store = {table!r:.80}: expected a table")
        for key in [key for key in table if key != "type"]:
            del table[key]
        table["type"] = kind
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ConfigError(f"the configuration is not TOML: {error}") from error


def _find(document: Any, key: str, *, make: bool) -> tuple[Any, str]:
    """The table that holds a dotted key, and the key's last part."""
    import tomlkit

    *above, name = key.split(".")
    table = document
    for at, part in enumerate(above):
        if part not in table:
            if not make:
                raise UsageError(f"{key!r}: the configuration has no [{'.'.join(above[: at + 1])}]")
            table[part] = tomlkit.table(is_super_table=at < len(above) - 1)
        table = table[part]
        if not isinstance(table, dict):
            raise UsageError(f"{key!r}: {'.'.join(above[: at + 1])} is a value, not a table")
    if not name:
        raise UsageError(f"{key!r}: a key has a name after its last dot")
    return table, name


def _set(table: Any, name: str, value: Any) -> None:
    """Set a key; a new one stands behind the table's last, before what belongs to the next table: a comment, a line."""
    from tomlkit.items import Table, Whitespace

    if name in table or not isinstance(table, Table):
        table[name] = value
        return
    body: list[Any] = table.value.body
    behind: list[Any] = []
    while body and body[-1][0] is None:
        behind.insert(0, body.pop())
    # A comment right below the last key is of this table, unless it is right above the next one.
    blank = next((at for at, (_, item) in enumerate(behind) if isinstance(item, Whitespace)), 0)
    body.extend(behind[:blank])
    table[name] = value
    body.extend(behind[blank:])


def _value(text: str, setting: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.value(text)
    except (TOMLKitError, ValueError) as error:
        if text.startswith(BEGINNINGS):
            message = f"{setting!r}: the value begins as TOML and is none; look at its quotes and brackets"
            raise UsageError(message) from error
        return tomlkit.string(text)
