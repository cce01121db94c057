"""Source `records`: a file of records, one JSON object a line."""

from steadlith_adapters.sources.records.source import FACTORY, RecordsSource

__all__ = ["FACTORY", "RecordsSource"]
