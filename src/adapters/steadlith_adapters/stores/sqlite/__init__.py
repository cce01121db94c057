"""SQLite, the embedded default: one file, one transaction, one generation (docs/adapters/sqlite.md)."""

from steadlith_adapters.stores.sqlite.factory import FACTORY

__all__ = ["FACTORY"]
