"""The PostgreSQL store: one logical index in one schema of a server that has pgvector."""

from steadlith_adapters.stores.postgres.factory import FACTORY

__all__ = ["FACTORY"]
