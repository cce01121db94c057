"""Source `imported`: documents that came into the index by an import, and that no source has."""

from steadlith_adapters.sources.imported.source import FACTORY, ImportedSource

__all__ = ["FACTORY", "ImportedSource"]
