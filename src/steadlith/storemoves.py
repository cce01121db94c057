"""Store moves: the index of a configuration goes to another store, and the configuration after it.

1. A move changes where the index is, and nothing else: what else a configuration changes is another migration.
2. Its journal is written before the new store is touched, and says where a move that was killed is gone on with.
3. The configuration file is replaced once the copy is whole and verified, in place of the one that the move was begun
   over, and of no other. That is the move: before it the old store has the index, after it the new one.
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steadlith import carrying, files, journals, pending, receipts
from steadlith import config as configuration
from steadlith.assembly import Assembly
from steadlith.border import adapter
from steadlith.copying import name_of
from steadlith_core.errors import AdapterError, ChangeUnfinished, PlanStale, UsageError
from steadlith_core.events import silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith.carrying import Moved, StoreMove
    from steadlith_core.events import Reporter
    from steadlith_core.records import Generation


class StoreMoves:
    """The moves of one index. `configure` is told of the configuration that is in place after one."""

    def __init__(self, assembly: Assembly, configure: Callable[[Assembly], None]) -> None:
        self._assembly = assembly
        self._configure = configure

    def is_one(self, text: str) -> bool:
        """Whether this text of the configuration names another store than the one in place. Raises `ConfigError`."""
        return configuration.read(text, self._assembly.config.file).store != self._assembly.config.store

    def is_under_way(self) -> bool:
        """Whether a move was begun and is not done."""
        return self._journal() is not None

    def plan(self, text: str) -> StoreMove:
        """What moving the index to the store of this configuration would do. Changes and embeds nothing.

        Raises `ConfigError` and `UsageError` for a store that cannot be used, `ChangeUnfinished` while another move is
        on its way, or what another change committed is not in place.
        """
        new = self._leading(text)
        pending.refuse(self._assembly.config, self._history)
        journal = self._journal()
        if journal is not None and journal.configuration != text:
            pending.refuse_moving(self._assembly.config)
        return carrying.preview(self._assembly, new)

    def apply(
        self,
        move: StoreMove,
        *,
        lock_timeout: float = 0.0,
        report: Reporter = silent,
        stop_requested: Callable[[], bool] = lambda: False,
    ) -> Moved:
        """Do it, or go on with it. Raises as `plan` does, `LockHeld`, `Stopped` between two batches, `StoreCorrupt` for
        an index or a copy that does not verify, `StaleHead` and `PlanStale` for an index or a configuration that
        somebody else changed meanwhile.
        """
        old, new = self._assembly, self._leading(move.then)
        with carrying.locked(old, new, lock_timeout):
            self._refuse_edited()
            self._begin(move)
            carried = carrying.carried_over(old, new, move.head, report=report, stop_requested=stop_requested)
            with carried as moved:
                self._refuse_edited()
                self._put(new, moved)
                with suppress(OSError):  # the history says the same
                    receipts.write(new.config, receipts.Receipt.of(moved.before, moved.after, move.now, _told(move)))
            journals.drop(new.config)
        self._configure(new)
        return moved

    def begun(self) -> StoreMove | None:
        """The move that was begun and is not done, looked at again; none if there is none.

        Raises as `plan` does, and `ChangeUnfinished` if the configuration was edited since.
        """
        journal = self._journal()
        if journal is None:
            return None
        if journals.current(self._assembly.config) != journal.before:
            raise ChangeUnfinished(
                f"{self._assembly.config.file} was edited since the move to another store was begun: `steadlith "
                "migrate --abort` takes away what was copied, then begin again"
            )
        return self.plan(journal.configuration)

    def abort(self, *, force: bool = False, lock_timeout: float = 0.0) -> tuple[bool, str | None]:
        """Take away what a move left that is not done, and forget it: whether there was one, and where its copy is now.

        With `force` the copy stays where it is. Raises `LockHeld`, and `UsageError` for something else in its place.
        """
        try:
            journal = self._journal()
        except ChangeUnfinished:
            if not force:
                raise
            return False, None  # `Migrations.abort` drops what cannot be read
        if journal is None:
            return False, None
        old, new = self._assembly, self._other(journal.configuration)
        with carrying.locked(old, new, lock_timeout):
            aside = None if force else carrying.take_away(new)
            journals.drop(old.config)
        return True, aside

    # ------------------------------------------------------------------------------------------ inside

    def _history(self) -> tuple[Generation, ...]:
        with closing(self._assembly.open_store(readonly=True)) as store, adapter("reading the history"):
            return store.history()

    def _other(self, text: str) -> Assembly:
        return Assembly(configuration.read(text, self._assembly.config.file), self._assembly.given)

    def _leading(self, text: str) -> Assembly:
        """The index as it is, in another store (rule 1)."""
        now, new = self._assembly.config, self._other(text)
        carrying.refuse_same(self._assembly, new)
        if replace(new.config, store=now.store, text=now.text) != now:
            raise UsageError(
                "a move to another store changes [store] alone: migrate what else differs before it, or after it"
            )
        return new

    def _journal(self) -> journals.Journal | None:
        """The journal of a move that is not done."""
        journal = pending.begun(self._assembly.config, tuple)
        return journal if journal is not None and journal.is_move else None

    def _begin(self, move: StoreMove) -> None:
        config, head = self._assembly.config, move.head
        journal = journals.Journal(
            command="migrate",
            why=f"move to {move.new}",
            lineage=head.lineage,
            number=head.generation + 1,
            plan_digest=name_of(head),
            before=move.now,
            configuration=move.then,
            asked={journals.STORE: move.new},
            told=_told(move),
        )
        try:
            journals.write(config, journal)
        except OSError as error:
            raise AdapterError(
                f"{journals.place(config)} cannot be written, and without it a move could not be gone on with: "
                f"{error.strerror or error}; nothing was copied"
            ) from error

    def _refuse_edited(self) -> None:
        config = self._assembly.config
        if journals.current(config) != config.text:
            raise PlanStale(f"{config.file} was edited since this move was begun; begin it again")

    @staticmethod
    def _put(new: Assembly, moved: Moved) -> None:
        try:
            files.write(new.config.file, [new.config.text.encode()])
        except OSError as error:
            raise ChangeUnfinished(
                f"the index is in its new store ({moved.after.why}), and {new.config.file} cannot be written: "
                f"{error.strerror or error}. Make it writable and run `steadlith migrate --resume`"
            ) from error


def _told(move: StoreMove) -> dict[str, Any]:
    """What the receipt says besides."""
    return {"moved": {"from": move.old, "to": move.new, "chunks": move.contents.chunks}}
