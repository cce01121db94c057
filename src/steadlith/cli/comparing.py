"""`steadlith diff A [B]`: what two generations, manifests or plans differ in."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith import naming
from steadlith.cli import options, planfiles
from steadlith_core.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from steadlith.between import Between
    from steadlith.differences import Side
    from steadlith.index import Index
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import Generation

EXPECTED = f"expected {naming.EXPECTED}, a manifest or a plan file"


@click.command()
@click.argument("old", metavar="A")
@click.argument("new", metavar="[B]", default="head")
@click.option("--text", is_flag=True, help="Of two generations: how the text of each document differs, line by line.")
@options.config
@options.json
def diff(old: str, new: str, config: Path, *, text: bool, json_output: bool) -> int:
    """Compare two states, or two plans; exit 2 if they differ.

    A and B are each a generation (12, head, head~1, a name that it was given) or a manifest; or both are plan files.
    Without B it is the head. A file named like a generation is written ./12.
    """
    with ExitStack() as stack:
        operands = _Operands(config, stack)
        first, second = operands.named(old), operands.named(new)
        if first is not None and second is not None:
            return _generations(operands.between(first, second), text=text, json_output=json_output)
        if text:
            raise UsageError(f"--text: {old} and {new} are not both generations; only an index holds texts")
        return _states_or_plans(operands, old, new, json_output=json_output)


def _generations(between: Between, *, text: bool, json_output: bool) -> int:
    from steadlith.report import documents, offline, offlinedocuments

    texts = between.text if text else None
    if json_output:
        options.put(documents.dumps(offlinedocuments.comparison(between.found, texts)))
    else:
        options.show(offline.comparison(between.found, texts))
    return 0 if between.found.same else 2


def _states_or_plans(operands: _Operands, old: str, new: str, *, json_output: bool) -> int:
    from steadlith import differences
    from steadlith.report import documents, offline, offlinedocuments

    left, right = operands.read(old), operands.read(new)
    if isinstance(left, differences.Side) and isinstance(right, differences.Side):
        found = differences.compare(left, right)
        same, document, lines = found.same, offlinedocuments.comparison(found), offline.comparison(found)
    elif isinstance(left, differences.Side) or isinstance(right, differences.Side):
        raise UsageError(f"{old} and {new}: a plan compares with another plan, a state with another state")
    else:
        plans = differences.compare_plans(left, right)
        same, document, lines = plans.same, offlinedocuments.plans(plans), offline.plans(plans)
    if json_output:
        options.put(documents.dumps(document))
    else:
        options.show(lines)
    return 0 if same else 2


class _Operands:
    """What the command line names, opened when it is first needed and closed with `stack`."""

    def __init__(self, config: Path, stack: ExitStack) -> None:
        self._config = config
        self._stack = stack
        self._index: Index | None = None
        self._history: tuple[Generation, ...] = ()

    def read(self, name: str) -> Side | Plan:
        """A state or a plan."""
        generation = self.named(name)
        if generation is not None:
            return self._generation(generation)
        from steadlith import manifests
        from steadlith.differences import Side

        file = Path(name)
        if _is_manifest(file, name):
            manifest = manifests.load(file)
            return Side(manifest.header, manifest, manifest)
        return planfiles.load(file)

    def between(self, old: int, new: int) -> Between:
        """Two generations, compared."""
        return self._stack.enter_context(self._opened().generations.between(old, new))

    def named(self, name: str) -> int | None:
        """The generation of this name; a file that is there comes before a name that was given."""
        if not naming.is_counted(name) and Path(name).exists():
            return None
        try:
            index = self._opened()
        except ConfigError:
            if naming.is_counted(name):
                raise
            return None  # manifests and plans are compared without any index
        return naming.find(self._history, index.generations.tags(), name)

    def _opened(self) -> Index:
        import steadlith

        if self._index is None:
            self._index = self._stack.enter_context(steadlith.open(self._config))
            self._history = self._index.history()
        return self._index

    def _generation(self, number: int) -> Side:
        from steadlith import manifests
        from steadlith.differences import Side

        reader = self._stack.enter_context(self._opened().reader(number))
        trie = manifests.corpus_trie(reader)
        return Side(manifests.header(reader, trie, self._history), reader, trie)


def _is_manifest(file: Path, name: str) -> bool:
    from steadlith_core.state.manifest import MAGIC

    try:
        with file.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise UsageError(f"{name}: {EXPECTED}; as a file: {error.strerror or error}") from error
