"""Migrating: to an index under another configuration, previewed, built beside the live one, checked, and swapped in.

1. Until the one commit nothing but the cache and the journal changes: whoever searches finds the old generation.
2. What a killed migration paid for is in the cache, so that going on with it pays for the rest alone.
3. The configuration file changes last, in place of the one that the migration was begun over, and of no other.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadlith import config as configuration
from steadlith import journals, pending, questions, receipts
from steadlith.amending import amended
from steadlith.assembly import Assembly
from steadlith.border import adapter
from steadlith.causes import causes
from steadlith.checking import Checks
from steadlith.explain import document_id
from steadlith.looking import planning
from steadlith.observe import USUAL, Look
from steadlith.running import How, run
from steadlith_core.errors import ChangeUnfinished, ConfigError, RollbackRefused, UsageError
from steadlith_core.planning.overrides import MODEL
from steadlith_core.planning.plan import Fate
from steadlith_core.planning.planfile import plan_digest
from steadlith_core.ports import Ailment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from steadlith.causes import Cause
    from steadlith.checking import Checked
    from steadlith.generations import Open
    from steadlith.journals import Journal
    from steadlith.questions import Question
    from steadlith.receipts import Receipt
    from steadlith.storemoves import StoreMoves
    from steadlith_core.applying.run import Result
    from steadlith_core.planning.make import Planned, Terms
    from steadlith_core.planning.plan import Plan
    from steadlith_core.ports import Cache, Reader, Store
    from steadlith_core.records import DocumentId, Generation
    from steadlith_core.rows import RecordedDocument


@dataclass(frozen=True, slots=True)
class Goal:
    """The sources under another configuration, in place of the text `replaces`. `asked` says again what the checks are
    made from, and which documents are held.
    """

    assembly: Assembly
    replaces: str
    checks: Checks
    asked: Mapping[str, Any]
    command: str = "migrate"
    why: str = "migrate"

    def planned(self, _store: Store, _terms: Terms) -> Planned | None:
        """See `goals.Goal`: made from the sources."""
        return None

    def check(self, reader: Reader, cache: Cache) -> Checked:
        """See `goals.Goal`."""
        from steadlith import checking

        return checking.check(self.assembly, reader, cache, self.checks)


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration would do: its plan, the text of the configuration now and then, what follows from which change,
    and what the last one left. `upgrades` say what of the index's own form changes with the first write.
    """

    plan: Plan
    now: str
    then: str
    causes: tuple[Cause, ...]
    last: Receipt | None
    upgrades: tuple[str, ...]
    goal: Goal

    @property
    def is_nothing(self) -> bool:
        """Whether the index is as that configuration wants it, and the file says so."""
        return self.plan.is_empty

    @property
    def seconds(self) -> float | None:
        """How long embedding takes at the pace of the last migration; none if that is not known."""
        pace = None if self.last is None else self.last.pace
        return None if pace is None else self.plan.cost.embeddings / pace


class Migrations:
    """The migrations of one index. `configure` is told of the configuration that is in place after one."""

    def __init__(self, assembly: Assembly, open_store: Open, configure: Callable[[Assembly], None]) -> None:
        self._assembly = assembly
        self._open = open_store
        self._configure = configure

    def plan(
        self,
        look: Look = USUAL,
        *,
        text: str | None = None,
        settings: Iterable[str] = (),
        dropped: Iterable[str] = (),
        sample: int | None = None,
        questions_file: Path | None = None,
        min_recall: float | None = None,
        stat_cache: bool = True,
        workers: int = 1,
    ) -> Migration:
        """What leading the index to another configuration would do: `text`, or the one in place, with `settings`
        (`embedding.dimensions=512`) set and the keys of `dropped` taken out. Changes and embeds nothing.

        `sample`, `questions_file` and `min_recall` are what is checked before the swap (checking.py). Raises
        `ConfigError`, `UsageError`, and whatever `Index.plan` raises.
        """
        asked = {
            "sample": sample,
            "questions": None if questions_file is None else str(questions_file.absolute()),
            "min_recall": min_recall,
            "held": [str(id_) for id_ in look.held],
        }
        pending.refuse(self._assembly.config, self._history)
        pending.refuse_moving(self._assembly.config)
        now = self._assembly.config
        then = amended(now.text if text is None else text, settings, dropped)
        return self._planned(self.goal(then, asked), look, stat_cache=stat_cache, workers=workers)

    def apply(self, migration: Migration, how: How | None = None) -> Result:
        """Do it; `how` is as for `Index.apply`. Raises as that does, and `ChecksFailed`."""
        how = how or How()
        pending.refuse(self._assembly.config, self._history, but=partial(plan_digest, migration.plan))
        how = replace(how, allow=how.allow | {MODEL})  # that is what a migration is for
        done = run(self._assembly, self._open, migration.plan, how, migration.goal)
        self._configure(migration.goal.assembly)
        return done

    def goal(self, text: str, asked: Mapping[str, Any]) -> Goal:
        """The goal that this text of the configuration is. Raises `ConfigError`, `UsageError`."""
        now = self._assembly.config
        then = configuration.read(text, now.file)
        if then.store != now.store:
            raise UsageError(
                f"[store] would become another one, of type {then.store.type!r}: to copy the index there is a move of "
                "its own (`steadlith migrate --store TYPE`, `Migrations.stores`)"
            )
        file = asked.get("questions")
        golden = () if file is None else questions.load(Path(file), then.sources)
        checks = Checks(questions=golden, min_recall=asked.get("min_recall"))
        if asked.get("sample") is not None:
            checks = Checks(asked["sample"], golden, checks.min_recall)
        return Goal(Assembly(then, self._assembly.given), now.text, checks, asked)

    @property
    def stores(self) -> StoreMoves:
        """The moves of the index to another store."""
        from steadlith.storemoves import StoreMoves

        return StoreMoves(self._assembly, self._configure)

    def on_its_way(self) -> Journal | None:
        """The journal of a migration or a move that was begun and is not done; none for a damaged one."""
        with suppress(ChangeUnfinished):
            return pending.begun(self._assembly.config, self._history)  # the index is opened where there is a journal
        return None

    def begun(self, *, force: bool = False, stat_cache: bool = True, workers: int = 1) -> Migration | None:
        """The migration that was begun and not committed, planned again; none if there is none.

        What it paid for is in the cache: its plan says what is left. With `force` also over a configuration that was
        edited since. Raises as `plan` does, and `ChangeUnfinished` for one that was.
        """
        journal = self.on_its_way()
        if journal is None or journal.is_move:
            return None
        config = self._assembly.config
        replaces = journals.current(config)
        if not force and replaces not in {journal.before, journal.configuration}:
            raise ChangeUnfinished(
                f"{config.file} was edited since this migration was begun: `steadlith migrate --resume --force` "
                "replaces what was edited, `steadlith migrate --abort` drops the migration and keeps it"
            )
        held = tuple(document_id(name, config.sources) for name in journal.asked.get("held", ()))
        look = Look(held=held)
        goal = replace(self.goal(journal.configuration, journal.asked), replaces=replaces)
        return self._planned(goal, look, stat_cache=stat_cache, workers=workers)

    def before(self, file: Path) -> int:
        """The generation before the migration of a receipt. Raises `UsageError` for a file that is none, and
        `RollbackRefused` if what is kept under that number is another state.
        """
        receipt = receipts.read(file)
        history = self._history()
        number, was = receipt.from_generation, receipt.before
        for made in history:
            if made.number == number and (made.lineage, str(made.state_root)) != (was["lineage"], was["state_root"]):
                raise RollbackRefused(
                    f"{file} is a receipt of index {was['lineage']}, whose generation {number} has state root "
                    f"{was['state_root']}; this one's has {made.state_root}"
                )
        if number is None:
            raise UsageError(f"{file} is the receipt of a migration from an index without a generation")
        return number

    def finish(self, *, force: bool = False, lock_timeout: float = 0.0) -> Journal | None:
        """Put the configuration of a committed rollback or migration in place. None if there was nothing to finish; a
        move that is done but for its journal is done.

        With `force` also over a configuration that was edited meanwhile. Raises `ChangeUnfinished`, `LockHeld`.
        """
        config = self._assembly.config
        with pending.alone(self._assembly, self._open, lock_timeout) as history:
            done = pending.settle(config, history, force=force)
        if done is None or done.is_move:
            return None
        self._configure(Assembly(configuration.load(config.file), self._assembly.given))
        return done

    def abort(self, *, force: bool = False, lock_timeout: float = 0.0) -> bool:
        """Drop what is left of a rollback or a migration that was not committed; whether there was anything. What it
        embedded stays in the cache.

        With `force` the configuration stays as it is though one was committed, and the next plan shows what that
        changes. Raises `ChangeUnfinished`, `LockHeld`.
        """
        if not force:
            pending.refuse_moving(self._assembly.config)  # `StoreMoves.abort` takes away what it copied
        with pending.alone(self._assembly, self._open, lock_timeout, blindly=force) as history:
            return pending.abandon(self._assembly.config, history, force=force)

    def _planned(self, goal: Goal, look: Look, *, stat_cache: bool, workers: int) -> Migration:
        now, text = goal.replaces, goal.assembly.config.text
        with ExitStack() as stack:
            open_store = partial(self._open, stack, readonly=True)
            made = planning(goal.assembly, open_store, look, stat_cache=stat_cache, workers=workers)
            _, world, planned = stack.enter_context(made)
            found = _found(open_store(), planned.plan, goal.checks.questions)
        _refuse_unknown(goal.checks.questions, planned.plan, found)
        upgrades = self._upgrades()
        brings = text != now or bool(upgrades)
        plan = replace(planned.plan, configuration=journals.brought(goal.assembly.config, now) if brings else None)
        digests = {change.id: change.source_digest for change in plan.changes}
        unchanged = {id_ for id_ in found.keys() & digests.keys() if found[id_].source_digest == digests[id_]}
        told = causes(world.head.recipe, plan, unchanged, scope=self._scope(goal))
        return Migration(plan, now, text, told, receipts.newest(goal.assembly.config), upgrades, goal)

    def _scope(self, goal: Goal) -> tuple[str, str] | None:
        """The settings of the sources as the index was made under, and as they are to be, if they differ."""
        history = self._history()
        noted = history[-1].configuration if history else None
        try:
            was = None if noted is None else configuration.read(noted, goal.assembly.config.file).sources
        except ConfigError:
            return None
        is_now = goal.assembly.config.sources
        return None if was is None or was == is_now else (", ".join(was), ", ".join(is_now))

    def _history(self) -> tuple[Generation, ...]:
        with ExitStack() as stack:
            return self._open(stack, readonly=True).history()

    def _upgrades(self) -> tuple[str, ...]:
        troubles = self._assembly.troubles()
        return tuple(trouble.message for trouble in troubles if trouble.kind is Ailment.OLDER_FORMAT)


def _found(store: Store, plan: Plan, asked: Iterable[Question]) -> Mapping[DocumentId, RecordedDocument]:
    """What is recorded of the documents of the plan, and of those that questions are about."""
    if plan.base.generation == 0:
        return {}
    named = {id_ for question in asked for id_ in question.documents}
    with closing(store.snapshot()) as reader, adapter("reading the index"):
        return reader.find(sorted(named.union(change.id for change in plan.changes)))


def _refuse_unknown(asked: Iterable[Question], plan: Plan, found: Mapping[DocumentId, RecordedDocument]) -> None:
    """Raise `UsageError` for a question that no document can answer, before anything is paid for."""
    there = found.keys() | {change.id for change in plan.changes}
    there -= {change.id for change in plan.changes if change.fate is Fate.REMOVED}
    for question in asked:
        if not question.documents & there:
            raise UsageError(
                f"{question.text!r:.80} is to find {min(question.documents)}, and the index will have no such document"
            )
