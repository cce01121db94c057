"""Source `python`: records that a program has in memory, or makes when it is asked."""

from steadlith_adapters.sources.python.source import FACTORY, PythonSource

__all__ = ["FACTORY", "PythonSource"]
