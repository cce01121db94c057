"""Dry runs: the port is carried out, and nothing that lasts is changed.

A store's dry run goes on in a copy, a cache's in memory, an embedder's with vectors that nobody was asked for.
"""

from steadlith_adapters.wrappers.dry_run.caches import DryRunCache
from steadlith_adapters.wrappers.dry_run.embedders import DryRunEmbedders
from steadlith_adapters.wrappers.dry_run.stores import DryRun, by_backup

__all__ = ["DryRun", "DryRunCache", "DryRunEmbedders", "by_backup"]
