"""The ports: what the engine asks of a source, an embedder, a cache and a store.

Every method says how often it is called, in what order, and what a second call means. An adapter is named by an
entry point that leads to a *factory*; a factory's `describe` must be cheap: no network, no credential, no weights.
Adapters raise the typed errors of `errors.py`; anything else that escapes them is translated at one border.
"""

from steadlith_core.ports.caches import Cache, CacheFactory, CacheStats, Kept, PruneRule, Reclaimed, Tally
from steadlith_core.ports.embedders import Embedder, EmbedderFactory, EmbedderIdentity
from steadlith_core.ports.reading import Capabilities, Reader, Recorded
from steadlith_core.ports.settings import Settings
from steadlith_core.ports.sources import FormatRule, Known, Source, SourceFactory, nothing_known
from steadlith_core.ports.stores import Lock, Store, StoreFactory, Transaction
from steadlith_core.ports.upkeep import Ailment, Compaction, Removable, Traces, Trouble

__all__ = [
    "Ailment",
    "Cache",
    "CacheFactory",
    "CacheStats",
    "Capabilities",
    "Compaction",
    "Embedder",
    "EmbedderFactory",
    "EmbedderIdentity",
    "FormatRule",
    "Kept",
    "Known",
    "Lock",
    "PruneRule",
    "Reader",
    "Reclaimed",
    "Recorded",
    "Removable",
    "Settings",
    "Source",
    "SourceFactory",
    "Store",
    "StoreFactory",
    "Tally",
    "Traces",
    "Transaction",
    "Trouble",
    "nothing_known",
]
