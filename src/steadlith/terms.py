"""The terms of a plan and of its calls, as a configuration has them: what it costs, how much it may lose, who counts
its tokens, how the embedder is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.version import VERSION
from steadlith_core.applying.audit import PROBE_TEXTS
from steadlith_core.applying.batches import Calls
from steadlith_core.planning.make import Terms

if TYPE_CHECKING:
    from steadlith.assembly import Assembly
    from steadlith_core.planning.cost import Price
    from steadlith_core.planning.make import Planned
    from steadlith_core.planning.plan import Plan
    from steadlith_core.planning.world import World


def tool() -> str:
    """Who makes plans: name and version."""
    return f"steadlith {VERSION}"


def terms(assembly: Assembly) -> Terms:
    """What planning under this configuration goes by."""
    embedding = assembly.config.embedding
    return Terms(
        tool=tool(),
        batch_size=embedding.batch_size,
        probe_texts=len(PROBE_TEXTS),
        local=assembly.embedder_identity.local,
        price=_price(assembly),
        counted_by=assembly.cutter.counted_by,
        limits=assembly.config.limits,
    )


def calls(assembly: Assembly, max_retry_time: float | None) -> Calls:
    """How the embedder is called; `max_retry_time`, in seconds, takes the place of the configured one."""
    embedding = assembly.config.embedding
    longest = embedding.max_retry_time if max_retry_time is None else max_retry_time
    return Calls(embedding.batch_size, embedding.concurrency, longest, strict=embedding.strict_audit)


def counted(assembly: Assembly, planned: Planned, world: World) -> Plan:
    """The plan with its tokens counted by `[embedding.tokenizer]`."""
    from steadlith import exact

    return exact.counted(planned, world.available, exact.tokenizer(assembly.config), _price(assembly))


def _price(assembly: Assembly) -> Price | None:
    return assembly.config.price_of(assembly.embedder_identity.model_id)
