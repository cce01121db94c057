"""What every adapter is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping


Settings: TypeAlias = "Mapping[str, Any]"
"""An adapter's own table of the configuration, as TOML gave it, without `type`."""
