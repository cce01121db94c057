"""What a power cut may leave of files whose writes were not all synced: every state that POSIX allows, by a seed.

1. A file's bytes are certain as of its last sync. Of what was written or cut since, any part may be there, in any
   order, sector by sector, and a sector may be torn: nothing but a sync orders two writes.
2. A name that was made or removed is certain once its folder was synced. Until then a cut may take back the last of
   them, but not an earlier one alone: file systems keep their folders in a journal.
3. The model decides what is left, and whoever dies writes that to the real files just before.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

SECTOR = 512


class Write(NamedTuple):
    """`data` from `offset` on."""

    offset: int
    data: bytes

    def on(self, content):
        end = self.offset + len(self.data)
        content.extend(bytes(max(0, end - len(content))))
        content[self.offset : end] = self.data


class Cut(NamedTuple):
    """The file ends at `size`."""

    size: int

    def on(self, content):
        content.extend(bytes(max(0, self.size - len(content))))
        del content[self.size :]


@dataclass
class File:
    """One file, whatever its name is now: its certain bytes."""

    synced: bytearray = field(default_factory=bytearray)


class Change(NamedTuple):
    """What was done to a file and is not certain yet."""

    file: File
    done: Write | Cut


class Naming(NamedTuple):
    """`name` came to mean another file than `before`, or none; `origin` is the name that this file had until then."""

    name: str
    before: File | None
    origin: str | None = None


class Disk:
    """The files that one process writes, by name."""

    def __init__(self):
        self.names = {}  # as the process sees them
        self._namings = []  # not certain yet, in order
        self._pending = []  # of all files, in order

    def open(self, name, content):
        """A file is opened: with its bytes, or None for one that is made by this. Twice is once."""
        if name not in self.names:
            self.names[name] = File(bytearray(content or b""))
            if content is None:
                self._namings.append(Naming(name, None))

    def do(self, name, done):
        self._pending.append(Change(self.names[name], done))

    def sync(self, name):
        """The file's bytes are certain now; its name is not."""
        file = self.names[name]
        for change in self._pending:
            if change.file is file:
                change.done.on(file.synced)
        self._pending = [change for change in self._pending if change.file is not file]

    def sync_names(self, folder):
        """The folder was synced."""
        self._namings = [naming for naming in self._namings if not is_in(naming.name, folder)]

    def remove(self, name):
        if name in self.names:
            self._namings.append(Naming(name, self.names.pop(name)))

    def rename(self, name, to):
        """The new name and the old one change together."""
        self._namings.append(Naming(to, self.names.get(to), name))
        self.names[to] = self.names.pop(name)

    def after_power_cut(self, policy, chance):
        """What the disk holds: bytes, or None for no file, by every name that was ever there."""
        left = {id(file): bytearray(file.synced) for file in self._files()}
        for file, done in policy(self._pending, chance):
            done.on(left[id(file)])
        ever = dict.fromkeys(name for naming in self._namings for name in (naming.name, naming.origin) if name)
        names = ever | self.names
        kept = {nothing: 0, names_alone: len(self._namings)}.get(policy, chance.randint(0, len(self._namings)))
        for name, before, origin in reversed(self._namings[kept:]):
            if origin:
                names[origin] = names[name]
            names[name] = before
        return {name: None if file is None else bytes(left[id(file)]) for name, file in names.items()}

    def _files(self):
        return [
            *self.names.values(),
            *(naming.before for naming in self._namings if naming.before),
            *(change.file for change in self._pending),
        ]


def is_in(name, folder):
    return str(Path(name).parent) == folder


# ------------------------------------------------------------------------- which of the uncertain changes are there


def nothing(_pending, _chance):
    """None of them: the disk wrote nothing that it was not made to."""
    return []


def names_alone(_pending, _chance):
    """The names as they were last, and no byte: the disk wrote its folders first."""
    return []


def a_beginning(pending, chance):
    """The first few, the last of them torn: the disk kept the order."""
    kept = pending[: chance.randint(0, len(pending))]
    return [*kept[:-1], *(torn(kept[-1], chance) for _ in kept[:1])]


def any_sectors(pending, chance):
    """Each sector of each write or not, with a torn one here and there: the disk kept no order at all."""
    for change in pending:
        for piece in sectors(change):
            if chance.random() < 0.5:
                yield torn(piece, chance) if chance.random() < 0.05 else piece


def the_last(pending, _chance):
    """The last one alone: the disk began at the other end."""
    return pending[-1:]


def all_but_one(pending, chance):
    """All but one: the disk was nearly done."""
    missing = chance.randrange(len(pending)) if pending else 0
    return pending[:missing] + pending[missing + 1 :]


POLICIES = (nothing, names_alone, a_beginning, any_sectors, the_last, all_but_one)


def sectors(change):
    """A write, by the disk's sectors; a truncation is one."""
    file, done = change
    if isinstance(done, Cut):
        yield change
        return
    at, end = done.offset, done.offset + len(done.data)
    while at < end:
        upto = min(end, (at // SECTOR + 1) * SECTOR)
        yield Change(file, Write(at, done.data[at - done.offset : upto - done.offset]))
        at = upto


def torn(change, chance):
    """The first bytes of a write only."""
    file, done = change
    return Change(file, Write(done.offset, torn_data(done.data, chance))) if isinstance(done, Write) else change


def torn_data(data, chance):
    """The first sectors of `data`, or one time in two the first bytes, the last sector torn inside."""
    cut = chance.randint(0, len(data))
    return data[: cut if chance.random() < 0.5 else cut - cut % SECTOR]
