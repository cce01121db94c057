"""Source `filesystem`: a folder of documents."""

from steadlith_adapters.sources.filesystem.source import FACTORY, FilesystemSource

__all__ = ["FACTORY", "FilesystemSource"]
