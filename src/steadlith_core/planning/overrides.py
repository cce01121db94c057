"""The flags that override guards. A module of its own, so that a command line can name them without loading a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

REMOVALS, EMPTY, REPLACED = "--allow-removals", "--allow-empty", "--allow-replaced-root"
MODEL, COST, LARGE = "--allow-model-change", "--allow-cost", "--allow-large-plan"
UNREAD, REBUILD = "--allow-unreadable", "--allow-rebuild"

OVERRIDES: Mapping[str, str] = {
    REMOVALS: "Let many documents, a folder or many chunks go.",
    EMPTY: "Let a source go from some documents to none.",
    REPLACED: "Let documents go though the root folder of their source is another one than it was.",
    MODEL: "Let every chunk be embedded anew.",
    COST: "Let the budget of [guards] paid_tokens or paid_amount be exceeded.",
    LARGE: "Let a plan have more than [guards] max_steps steps.",
    UNREAD: 'Go on without the documents that cannot be read ([guards] unreadable = "refuse").',
    REBUILD: "Let the index be built anew in place of what is there.",
}
"""The flags that override guards, each with its help."""
