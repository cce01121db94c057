"""Cache `sqlite`: vectors by what the model was given, in one SQLite file that processes may share."""

from steadlith_adapters.caches.sqlite.factory import FACTORY

__all__ = ["FACTORY"]
