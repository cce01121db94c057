"""What an index file can see is wrong with itself: `problems`, by levels."""

from steadlith_adapters.stores.postgres.checks.levels import problems

__all__ = ["problems"]
