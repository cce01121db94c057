"""An apply that leads to a goal: its journal from before the first payment, its check, its configuration at the end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steadlith import clock, journals, pending
from steadlith_core.errors import AdapterError, ChangeUnfinished, PlanStale
from steadlith_core.planning.planfile import plan_digest

if TYPE_CHECKING:
    from steadlith.goals import Goal
    from steadlith_core.planning.plan import Plan
    from steadlith_core.ports import Cache, Reader, Store


@dataclass(slots=True)
class Underway:
    """One apply of `plan` on its way to `goal`."""

    goal: Goal
    plan: Plan
    _journal: journals.Journal | None = None
    _began: float = field(default_factory=clock.monotonic)

    def begin(self, store: Store) -> None:
        """Write the journal: whatever happens to this process from here on, somebody can end what it began."""
        goal = self.goal
        if goal.replaces is None:
            return
        self.refuse_edited()
        pending.make_way(goal.assembly.config, store.history)
        base, digest, text = self.plan.base, plan_digest(self.plan), goal.assembly.config.text
        number = base.generation + 1
        self._journal = journals.Journal(
            goal.command, goal.why, base.lineage, number, digest, goal.replaces, text, goal.asked
        )
        self._write(self._journal)

    def refuse_edited(self) -> None:
        """Raise `PlanStale` if the configuration file is not the one that this was begun over."""
        config = self.goal.assembly.config
        if self.goal.replaces not in {None, journals.current(config)}:
            raise PlanStale(f"{config.file} was edited since this {self.goal.command} was begun; begin it again")

    def check(self, cache: Cache, embedded: int, reader: Reader) -> None:
        """Let the goal judge what would be the head, and note what it says, and how many texts were paid for, where the
        receipt finds it.
        """
        checked = self.goal.check(reader, cache)
        if checked is not None and self._journal is not None:
            seconds = round(clock.monotonic() - self._began, 3)
            told = {"seconds": seconds, "embedded": embedded, "checks": checked.told}
            self._write(replace(self._journal, told=told))

    def settle(self, store: Store) -> ChangeUnfinished | None:
        """Before the lock is given back: the configuration of what is committed, whenever that was; why it is not in
        place, if it is not.
        """
        try:
            pending.settle(self.goal.assembly.config, store.history())
        except ChangeUnfinished as error:
            return error
        return None

    def _write(self, journal: journals.Journal) -> None:
        config = self.goal.assembly.config
        try:
            journals.write(config, journal)
        except OSError as error:
            where = f"{journals.place(config)} cannot be written"
            what = f"{where}, and without it a {journal.command} could be left half done"
            raise AdapterError(f"{what}: {error.strerror or error}; nothing was committed") from error
