"""Source `git`: the documents of one commit, without a checkout."""

from steadlith_adapters.sources.git.source import FACTORY, GitSource

__all__ = ["FACTORY", "GitSource"]
