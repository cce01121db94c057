"""Who embeds a query: the configuration under which a generation is searched, whatever became of the file since.

1. A generation is searched by the model that its own vectors are of.
2. The head is searched under the configuration of now, an older generation under the one that it noted. Where that one
   leads to other vectors or cannot be used here, it is the other of the two, and a note says so.
3. If neither leads to its vectors nothing is answered, and the error says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import config as configuration
from steadlith.assembly import Assembly
from steadlith.border import adapter
from steadlith_core.errors import ConfigError, GenerationGone, SteadlithError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadlith_core.ports import Reader
    from steadlith_core.records import Generation, Head, Space

NOW = "the configuration"


@dataclass(frozen=True, slots=True)
class Asked:
    """A generation that is searched, and the configuration whose embedder is asked. `note` says why it is not the one
    that it would be.
    """

    state: Head
    assembly: Assembly
    note: str | None = None


def asked(assembly: Assembly, reader: Reader, history: Callable[[], Sequence[Generation]]) -> Asked:
    """Under what the generation of `reader` is searched. Looks into the `history` only where the configuration of now
    may not do. Raises `ConfigError`, and `GenerationGone` for one that is not in it.
    """
    is_head = reader.generation == reader.head.generation
    reasons: list[str] = []
    if is_head:
        recipe = reader.head.recipe
        if recipe is None or reader.head.chunks == 0 or _leads_to(assembly, recipe.spaces[0], NOW, reasons):
            return Asked(reader.head, assembly)
    made = _find(reader, history)
    wanted, noted = made.recipe.spaces[0], f"the configuration of generation {made.number}"
    then = _noted(assembly, made, noted, reasons)
    if then is not None and _leads_to(then, wanted, noted, reasons):
        return Asked(made.head, then, _note(made, reasons, noted))
    if not is_head and _leads_to(assembly, wanted, NOW, reasons):
        return Asked(made.head, assembly, _note(made, reasons, NOW))
    what = "the index" if is_head else f"generation {made.number}"
    way_out = "plan and apply the change first" if is_head else "put a configuration that names it in place"
    raise ConfigError(f"{what} was embedded by {named(wanted)}: {', and '.join(reasons)}; {way_out}")


def named(space: Space) -> str:
    """A space in words."""
    return f"{space.model_id} ({space.dimensions} dimensions, {space.quantization})"


def _find(reader: Reader, history: Callable[[], Sequence[Generation]]) -> Generation:
    with adapter("looking for a generation"):
        for made in history():
            if made.number == reader.generation:
                return made
    raise GenerationGone(f"generation {reader.generation} is not kept")


def _noted(assembly: Assembly, made: Generation, name: str, reasons: list[str]) -> Assembly | None:
    """The configuration that a generation noted, if it did and it can be read; otherwise one more reason."""
    if made.configuration is None:
        reasons.append(f"generation {made.number} noted no configuration")
        return None
    try:
        return Assembly(configuration.read(made.configuration, assembly.config.file), assembly.given)
    except ConfigError as error:
        reasons.append(f"{name} cannot be used here ({error})")
        return None


def _leads_to(assembly: Assembly, wanted: Space, name: str, reasons: list[str]) -> bool:
    """Whether vectors of this configuration are of the space; otherwise one more reason."""
    try:
        space = assembly.cutter.space
    except SteadlithError as error:
        reasons.append(f"{name} cannot be used here ({error})")
        return False
    if space != wanted:
        reasons.append(f"{name} names {named(space)}")
    return space == wanted


def _note(made: Generation, reasons: Sequence[str], name: str) -> str | None:
    if not reasons:
        return None
    wanted = named(made.recipe.spaces[0])
    return f"generation {made.number} was embedded by {wanted}: {', and '.join(reasons)}, so {name} was searched under"
