"""What holds of every plan, whatever was done to the folder: nothing that happens to be so decides a byte of it.

1. A plan is what the sources and the index say: no order, no worker, no hash seed, no locale and no fingerprint file.
2. What could not be read is never deleted, and what stands outside the scope is not either.
3. What did not change is not read.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import steadlith
from steadlith.observe import Look
from steadlith_adapters.sources.filesystem.source import FilesystemSource
from steadlith_adapters.stores.sqlite.reader import SqliteReader
from steadlith_core.digest import hasher
from steadlith_core.errors import DocumentError, GuardRefused, PlanRejected, PlanStale
from steadlith_core.planning.plan import Fate
from steadlith_core.planning.planfile import dump, load
from steadlith_core.planning.steps import Delete
from steadlith_core.ports import nothing_known
from steadlith_core.records import Content, DriftKind, FindingKind, Format, Level, Listed, SourceEntry, Stamp

EVERYTHING = ("--allow-removals", "--allow-empty", "--allow-replaced-root", "--allow-model-change")
PLACES = ("a.md", "b.md", "p/c.md", "p/d.txt", "p/q/e.md", "pq/c.md", "r/c.md", "r/ä.md")
FULL = Look(level=Level.FULL)
# A name for each of a run's many folders.
numbers = count()


def few(examples):
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


words = st.lists(st.integers(0, 20).map("word{}".format), min_size=1, max_size=6).map(" ".join)
documents = st.lists(words, max_size=5).map(lambda found: "".join(f"# {text}\n\n{text} again.\n\n" for text in found))
corpora = st.dictionaries(st.sampled_from(PLACES), documents, max_size=len(PLACES))


@pytest.fixture
def new_site(make_site):
    """Sites of their own for every example."""
    return lambda **tables: make_site(f"site{next(numbers)}", **tables)


def fill(site, corpus):
    for path, text in corpus.items():
        site.write(path, text)
    return site


def steps_of(plan, path):
    return [step for change in plan.changes if change.id.path == path for step in change.steps]


def removed(plan):
    return {str(change.id) for change in plan.changes if change.fate is Fate.REMOVED}


# ------------------------------------------------------------------------------------------ a source in memory


class Shelf:
    """Documents by path, given out in any order; some of it may be out of sight, and some may fail to be read."""

    def __init__(self, held, *, unread=(), refusing=(), seed=0):
        self.held = {path: text.encode() for path, text in held.items()}
        self.unread, self.refusing = unread, refusing
        self.rng = random.Random(seed)

    def shuffled(self, found):
        found = list(found)
        self.rng.shuffle(found)
        return found

    def list(self, known=nothing_known):
        folders = {}
        for path in self.shuffled(self.held):
            folders.setdefault(path[: path.rfind("/") + 1], []).append(path)
        parts = [self.part(folder, paths, known(folder)) for folder, paths in folders.items()]
        parts += [Listed("", unread=(path,)) for path in self.unread]
        return iter(self.shuffled(parts))

    def part(self, folder, paths, known):
        identities = known.identities if known and known.rules == b"shelf" else {}
        stamps = {path: self.stamp(path) for path in paths}
        same = [path for path in paths if stamps[path] and identities.get(path[len(folder) :]) == stamps[path].identity]
        entries = [
            SourceEntry(path, Format.MARKDOWN, len(self.held[path]), stamps[path]) for path in paths if path not in same
        ]
        return Listed(folder, tuple(entries), [path[len(folder) :] for path in same], b"shelf")

    def read(self, path):
        if path in self.refusing or path not in self.held:
            raise DocumentError(FindingKind.VANISHED, "not there any more")
        return Content(self.held[path])

    def stamp(self, path):
        if path in self.refusing or path not in self.held:
            return None
        return Stamp(bytes(hasher("shelf")(self.held[path])), changed_at=0)

    def leaves_out(self, path):
        del path
        return False

    def place(self):
        return None


def over(site, **shelves):
    return steadlith.open(site.root, sources=shelves)


# --------------------------------------------------------------------------------- what must not decide anything

CHANGED = {**{path: f"# {path}\n\nalpha {path}.\n" for path in PLACES}, "k/new.md": "# a.md\n\nalpha a.md.\n"}
PLAN_AND_APPLY = """
import sys
import steadlith
from steadlith_core.planning.planfile import dump
here, copy = map(steadlith.open, sys.argv[1:])
sys.stdout.buffer.write(dump(here.plan()).encode())
head = copy.apply(copy.plan(), allow=["--allow-removals", "--allow-empty", "--allow-replaced-root"]).head
print(head.corpus_root, head.state_root, head.documents, head.chunks)
"""


def installed(locale):
    found = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return locale in found


@few(10)
@given(corpora, corpora, corpora, st.permutations(["docs", "notes", "more"]), st.integers(0, 9), st.integers(1, 9))
def test_the_order_of_sources_folders_files_and_the_workers_change_no_byte(
    new_site, one, two, three, order, seed, workers
):
    def configured(names, embedding=""):
        site.configure(embedding=embedding)
        place = site.root / "steadlith.toml"
        head, tail = place.read_text("utf-8").split("[chunking]")
        tables = "".join(f'[sources.{name}]\npath = "{name}"\n' for name in names)
        assert head.strip() == '[sources.docs]\npath = "docs"'
        place.write_text(f"{tables}[chunking]{tail}", "utf-8")

    def shelves(state, seed):
        return {name: Shelf(state[name], seed=seed) for name in order}

    site = new_site()
    configured(["docs", "notes", "more"])
    before = {"docs": one, "notes": two, "more": one}
    after = {"docs": two, "notes": three, "more": two}
    over(site, **shelves(before, 0)).apply(over(site, **shelves(before, 0)).plan())
    usual = dump(over(site, **shelves(after, 0)).plan())
    configured(order, f"concurrency = {workers}")
    assert dump(over(site, **shelves(after, seed)).plan()) == usual
    assert dump(over(site, **shelves(after, seed + 1)).plan(stat_cache=False)) == usual
    assert dump(over(site, **shelves(after, seed)).plan(FULL)) == dump(over(site, **shelves(after, 0)).plan(FULL))
    # The size of a batch is in the plan by one number alone: how many calls it takes.
    configured(order, f"batch_size = {workers}")
    found, expected = (json.loads(text) for text in (dump(over(site, **shelves(after, seed)).plan()), usual))
    for plan in (found, expected):
        del plan["cost"]["calls"], plan["checksum"]
    assert found == expected


@few(10)
@given(corpora, corpora, st.randoms(use_true_random=False))
def test_the_order_in_which_files_and_folders_were_made_changes_no_byte(new_site, before, after, rng):
    site = fill(new_site(), before)
    site.apply()
    found = set()
    for _ in range(3):
        for entry in list(site.docs.iterdir()):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        paths = list(after)
        rng.shuffle(paths)
        fill(site, {path: after[path] for path in paths})
        found.add(dump(site.plan()))
    assert len(found) == 1


@few(4)
@given(corpora, corpora)
def test_batches_and_workers_change_no_root(new_site, before, after):
    heads = set()
    for size, workers in ((1, 1), (2, 5), (64, 2)):
        site = new_site(embedding=f"batch_size = {size}\nconcurrency = {workers}")
        fill(site, before).apply()
        for path in before.keys() - after.keys():
            (site.docs / path).unlink()
        head = fill(site, after).apply(allow=EVERYTHING).head
        heads.add((head.corpus_root, head.state_root, head.documents, head.chunks))
    assert len(heads) == 1


def test_hash_seed_and_locale_change_no_byte_and_no_root(new_site, article, tmp_path):
    site = new_site()
    for name in PLACES:
        site.write(name, article(name, sections=3))
    site.apply()
    shutil.move(site.docs / "p", site.docs / "k")
    (site.docs / "a.md").unlink()
    whole = article("b.md", sections=3)
    site.write("b.md", whole[: len(whole) // 2])
    site.write("half.md", whole[len(whole) // 2 :])
    site.write("文.md", "# İstanbul\n\nISI \u0131s\u0131 straße ß \ufb01 cafe\u0301\n")
    honest = dump(site.plan())
    environments = [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "4294967295", "LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "1", "TZ": "Pacific/Kiritimati"},
        {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "PYTHONOPTIMIZE": "1"},
        {"LC_ALL": "de_DE.UTF-8" if installed("de_DE.utf8") else "de_DE", "PYTHONUTF8": "1"},
    ]
    roots = set()
    for number, environment in enumerate(environments):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(site.root, copy)
        run = subprocess.run(
            [sys.executable, "-c", PLAN_AND_APPLY, str(site.root), str(copy)],
            capture_output=True,
            env={name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ} | environment,
            check=True,
        )
        plan, _, root = run.stdout.decode().removesuffix("\n").rpartition("\n")
        assert f"{plan}\n" == honest, environment
        roots.add(root)
    assert len(roots) == 1
    assert str(load(honest).target.corpus_root) in roots.pop()


# ------------------------------------------------------------------------------------- what could not be read

prefixes = st.sampled_from(["/", "p/", "p/q/", "pq/", "r/", "k/", "a.md", "p", "p/c.md", "r/ä.md", "nowhere/"])
cuts = st.sampled_from(["as it was", "as it was", "other sizes", "parents and parts"])


def cut_as(site, how):
    sizes = {"as it was": "max_tokens = 48", "other sizes": "max_tokens = 24"}
    site.configure()
    place = site.root / "steadlith.toml"
    text = place.read_text("utf-8")
    if how == "parents and parts":
        old = 'policy = "structural"\nmin_tokens = 16\nmax_tokens = 48'
        assert old in text
        text = text.replace(old, 'policy = "late"\nchild_max_words = 6')
    else:
        text = text.replace("max_tokens = 48", sizes[how]).replace("min_tokens = 16", "min_tokens = 8")
    place.write_text(text, "utf-8")


@few(15)
@given(
    corpora,
    corpora,
    st.sets(prefixes, max_size=3),
    st.sets(st.sampled_from(PLACES), max_size=2),
    st.sampled_from(["nothing is listed there", "some of it is listed"]),
    cuts,
    st.sampled_from([Level.HEAD, Level.FULL]),
)
def test_no_plan_deletes_where_a_source_could_not_look(new_site, before, after, unread, refusing, seen, how, level):
    def hidden(path):
        folders = tuple(place for place in unread if place.endswith("/"))
        return "/" in unread or path in unread or path.startswith(folders)

    listed = {path: text for path, text in after.items() if seen == "some of it is listed" or not hidden(path)}
    site = new_site()
    cut_as(site, "as it was")
    over(site, docs=Shelf(before)).apply(over(site, docs=Shelf(before)).plan())
    cut_as(site, how)
    index = over(site, docs=Shelf(listed, unread=tuple(unread), refusing=refusing))
    plan = index.plan(Look(level=level))
    # What goes is what a complete look did not find; what is listed and cannot be read is there.
    gone = {path for path in before if path not in listed and not hidden(path)}
    assert removed(plan) == {f"docs:{path}" for path in gone}
    kept = {path for path in before if path not in gone and (path not in listed or path in refusing)}
    for path in kept:
        assert not [step for step in steps_of(plan, path) if isinstance(step, Delete)]
    origins = {str(step.origin) for change in plan.changes for step in change.steps if getattr(step, "origin", None)}
    assert origins.isdisjoint({f"docs:{path}" for path in kept})
    assert dump(index.plan(Look(level=level), stat_cache=False)) == dump(plan)
    # Nothing is lost by applying it, and when everything can be seen again the index follows.
    index.apply(plan, allow=EVERYTHING)
    with index.reader() as reader:
        held = {document.id.path for document in reader.documents()}
    assert held == kept | (listed.keys() - refusing)
    healed = over(site, docs=Shelf(after))
    plan = healed.plan()
    assert dump(healed.plan(stat_cache=False)) == dump(plan)
    assert removed(plan) == {f"docs:{path}" for path in held - after.keys()}
    healed.apply(plan, allow=EVERYTHING)
    assert healed.plan().is_empty
    other = new_site()
    cut_as(other, how)
    fresh = over(other, docs=Shelf(after))
    assert fresh.apply(fresh.plan()).head.corpus_root == healed.head().corpus_root


FOLDERS = ["", "a/", "a/b/", "a/b/c/", "d/", "d/e/", "f/"]
PLAN_ALL_AS_NOBODY = """
import steadlith
from steadlith.observe import Look
from steadlith_core.planning.planfile import document
from steadlith_core.records import Level
warm, roots = arguments
for stat_cache in (True, False):  # whatever is imported late is imported now
    steadlith.open(warm).plan(Look(Level.FULL), stat_cache=stat_cache)
drop()
answer([
    [document(steadlith.open(root).plan(Look(level), stat_cache=cached)) for level in Level for cached in (True, False)]
    for root in roots
])
"""


def test_no_plan_deletes_below_a_folder_that_may_not_be_read(site_at, public_path, as_nobody, article):
    """Random trees, random edits, random folders and files out of reach; links into them as well."""
    warm = site_at(public_path / "warm")
    warm.write("old.md", article("old", sections=1))
    warm.apply()
    warm.write("new.md", article("new", sections=1))
    cases = [_locked_tree(site_at(public_path / f"tree{seed}"), random.Random(seed)) for seed in range(14)]
    for path in (public_path / "warm").rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)
    answers = as_nobody(PLAN_ALL_AS_NOBODY, str(warm.root), [str(site.root) for site, *_ in cases])
    hidden = 0
    for seed, ((_, recorded, safe, gone), plans) in enumerate(zip(cases, answers, strict=True)):
        hidden += len(safe)
        for plan in plans:
            lost = {change["document"]["path"] for change in plan["changes"] if change["fate"] == "removed"} & recorded
            assert lost == gone, f"seed {seed}"
            for change in plan["changes"]:
                if change["document"]["path"] in safe:
                    assert all(step["kind"] != "delete" for step in change["steps"]), f"seed {seed}"
        assert plans[0] == plans[1], f"seed {seed}"
        assert plans[2] == plans[3], f"seed {seed}"
    assert hidden > 20


def _locked_tree(site, rng):
    """A site that was applied, edited and partly locked: it, what is recorded, what is out of reach, and what is gone.

    Gone is what vanished where everything can be seen.
    """
    paths, links = _planted(site, rng)
    for _ in range(rng.choice([1, 2, 2])):
        site.apply()
    gone = _edited(site, rng, paths, links)
    locked = tuple(_locked(site, rng, sorted(set(paths) - gone)))
    safe = {path for path in paths if path.startswith(locked)}
    safe |= {link for link, target in links.items() if link.startswith(locked) or target.startswith(locked)}
    # Whether nothing stands behind a link can be known in a folder that may be entered and not be listed.
    unsure = gone & links.keys() & safe
    return site, {*paths, *links} - unsure, safe - unsure, gone - safe


def _planted(site, rng):
    """Documents, and links that are some: a link to a document is none, one to what by its name is no text is."""
    paths = [f"{folder}{name}.md" for folder in FOLDERS for name in "xyz" if rng.random() < 0.6]
    for path in paths:
        site.write(path, f"# {path}\n\n" + " ".join(f"{path} word{rng.randrange(9)}." for _ in range(9)) + "\n")
    links = {}
    for number in range(4):
        folder = rng.choice(FOLDERS)
        link, target = f"{rng.choice(['', 'f/', folder])}link{number}.md", f"{folder}blob{number}.png"
        links[link] = target
        site.write(target, f"# {link}\n\nbehind a link\n")
        (site.docs / link).parent.mkdir(parents=True, exist_ok=True)
        (site.docs / link).symlink_to(site.docs / target)
    return paths, links


def _edited(site, rng, paths, links):
    """Delete, rename and edit some; what is gone."""
    vanished = set(rng.sample(paths, min(len(paths), rng.randrange(4))))
    for path in vanished:
        if rng.random() < 0.3:
            site.write(f"f/new{rng.randrange(99)}.md", (site.docs / path).read_text("utf-8"))
        (site.docs / path).unlink()
    dangling = rng.choice(sorted(links))
    (site.docs / links[dangling]).unlink()
    left = sorted(set(paths) - vanished)
    for path in rng.sample(left, min(2, len(left))):
        site.write(path, f"# Edited {path}\n\nother words {rng.randrange(99)}\n")
    return vanished | {dangling}


def _locked(site, rng, files):
    """Take the rights away from a file and from one or two folders, which are given back."""
    locked = rng.sample([folder for folder in FOLDERS[1:] if (site.docs / folder).is_dir()], rng.randrange(1, 3))
    for path in site.root.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o777 if path.is_dir() else 0o666)
    for path in rng.sample(files, min(1, len(files))):
        (site.docs / path).chmod(0)
    for folder in sorted(locked, reverse=True):  # not to list, not to enter, or neither
        (site.docs / folder).chmod(rng.choice([0, 0o711, 0o744]))
    site.root.chmod(0o755)
    return locked


# ----------------------------------------------------------------------------------------- the fingerprint file


class Disk:
    """All that is done to a folder behind the index's back. What cannot be done here and now is not done."""

    def __init__(self, site):
        self.site, self.docs = site, site.docs

    def files(self):
        return sorted(path for path in self.docs.rglob("*.*") if path.is_file() and path.name != ".gitignore")

    def one(self, number):
        files = self.files()
        return files[number % len(files)] if files else self.site.write("a.md", "born\n")

    def do(self, kind, number, other, text):
        with suppress(FileExistsError, shutil.Error):
            getattr(self, kind)(number, other, text)

    def write(self, number, _, text):
        place = self.docs / PLACES[number % len(PLACES)]
        if place.is_symlink():
            place.unlink()
        self.site.write(PLACES[number % len(PLACES)], text)

    def edit(self, number, _, text):
        place = self.one(number)
        place.write_bytes(place.read_bytes() + text.encode())

    def spoil(self, number, _, text):
        self.one(number).write_bytes(b"\xff\xfe" + text.encode())

    def touch(self, number, other, _):
        os.utime(self.one(number), (other * 10**8, other * 10**8))

    def rename(self, number, other, _):
        to = self.docs / PLACES[other % len(PLACES)]
        to.parent.mkdir(parents=True, exist_ok=True)
        self.one(number).replace(to)

    def forge(self, number, _, __):
        """Other bytes in place, of the same size and the same mtime."""
        place = self.one(number)
        was = place.stat()
        place.write_bytes(place.read_bytes().swapcase())
        os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))

    def replace(self, number, _, __):
        """Another file put over this one, of the same size and the same mtime."""
        place = self.one(number)
        was, draft = place.stat(), self.site.root / "draft"
        draft.write_bytes(place.read_bytes().swapcase())
        os.utime(draft, ns=(was.st_atime_ns, was.st_mtime_ns))
        draft.replace(place)

    def delete(self, number, _, __):
        self.one(number).unlink()

    def delete_and_put_back(self, number, _, __):
        place = self.one(number)
        content = place.read_bytes()
        place.unlink()
        place.write_bytes(content)

    def rename_folder(self, number, other, _):
        folders = [path for path in sorted(self.docs.iterdir()) if path.is_dir()]
        to = self.docs / "pqrs"[other % 4]
        if folders and not to.exists():
            folders[number % len(folders)].rename(to)

    def swap(self, number, other, _):
        one, two = self.one(number), self.one(other)
        if one != two:
            one.rename(self.site.root / "aside")
            two.rename(one)
            (self.site.root / "aside").rename(two)

    def swap_folders(self, number, other, _):
        folders = [path for path in sorted(self.docs.iterdir()) if path.is_dir()]
        if len(folders) > 1:
            one, two = folders[number % len(folders)], folders[other % len(folders)]
            if one != two:
                one.rename(self.site.root / "aside")
                two.rename(one)
                (self.site.root / "aside").rename(two)

    def chmod(self, number, other, _):
        self.one(number).chmod((0o600, 0o644, 0o444)[other % 3])

    def symlink(self, number, other, text):
        """To a document, which makes none of the link, or to what only a link makes one."""
        target, link = self.one(number), self.docs / PLACES[other % len(PLACES)]
        if number % 4:
            target = self.site.write(("blob.png", "p/blob.png", "r/blob.png")[number % 3], text)
        if link.resolve() != target.resolve():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(target)

    def hardlink(self, number, other, _):
        target, link = self.one(number), self.docs / PLACES[other % len(PLACES)]
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.hardlink_to(target.resolve())

    def ignore(self, number, other, _):
        folder = self.docs / ("", "p", "r")[number % 3]
        if folder.is_dir():
            (folder / ".gitignore").write_text(("", "*.txt\n", "c.md\nf.md\n", "q/\n")[other % 4])

    def configure(self, number, _, __):
        text = ("", "", 'exclude = ["r/"]', 'formats = { ".md" = "text" }', 'front_matter = ["tags"]')
        self.site.configure(source=text[number % len(text)])


KINDS = sorted(name for name in vars(Disk) if name not in {"files", "one", "do"} and not name.startswith("_"))
edits = st.tuples(st.sampled_from(KINDS), st.integers(0, 40), st.integers(0, 40), words)
APPLIES = ("no", "at once", "by reading all", "when the clock has moved", "before further edits", "from a file")
rounds = st.lists(st.tuples(st.lists(edits, max_size=4), st.sampled_from(APPLIES)), min_size=1, max_size=4)


def fingerprint_file(site):
    return site.root / ".steadlith" / "steadlith.fingerprints"


def wait_for_the_clock(site):
    """Until a file made now is younger than every document: then their stamps are believed."""
    stats = [path.stat() for path in site.docs.rglob("*") if path.exists()]
    newest = max((stat.st_ctime_ns for stat in stats), default=0)
    probe = site.root / "probe"
    while True:
        probe.write_text("x")
        if probe.stat().st_mtime_ns > newest:
            return


@contextmanager
def instead_of(place, content):
    """With another fingerprint file, or none."""
    honest = place.read_bytes()
    place.unlink()
    if content is not None:
        place.write_bytes(content)
    yield
    place.write_bytes(honest)


def in_every_way(site, older):
    """The plan by each way to it, at both levels."""
    place = fingerprint_file(site)
    content = place.read_bytes()
    broken = bytearray(content)
    broken[len(content) * len(older) // 7 % len(content)] ^= 0x55
    for look in (Look(), FULL):
        yield look, "usual", dump(site.open().plan(look))
        yield look, "all read", dump(site.open().plan(look, stat_cache=False))
        for name, other in [("none", None), ("broken", bytes(broken)), *enumerate(older)]:
            with instead_of(place, other):
                yield look, name, dump(site.open().plan(look))


def check_every_way(new_site, first, life):
    site = new_site()
    disk = Disk(site)
    for path in PLACES[:5]:
        site.write(path, f"# {path}\n\nword1 {path} word2\n")
    for edit in first:
        disk.do(*edit)
    site.apply(allow=EVERYTHING)
    older, saved = [], []
    for done, applying in life:
        wait_for_the_clock(site)  # as between any two commands: an edit within a tick of an apply is `taken_at`'s
        for edit in done:
            disk.do(*edit)
        plan = site.plan()
        saved.append(dump(plan))
        older.append(fingerprint_file(site).read_bytes())
        plans = list(in_every_way(site, older[-3:]))
        for level in {look.level for look, *_ in plans}:
            same = {text: name for look, name, text in plans if look.level is level}
            assert len(same) == 1, sorted(map(str, same.values()))
        _apply(site, applying, disk, saved)


@few(18)
@given(st.lists(edits, max_size=6), rounds)
def test_with_any_fingerprint_file_and_without_one_the_plan_is_the_same(new_site, first, life):
    check_every_way(new_site, first, life)


def test_folders_that_were_swapped_and_swapped_back_are_seen_with_any_fingerprint_file(new_site):
    """To rename a folder leaves every file in it as it was: an old stamp is right again, and says what is no more."""
    site = fill(new_site(), {path: f"# {path}\n\nword1 {path} word2\n" for path in PLACES})
    site.apply()
    wait_for_the_clock(site)
    site.apply()
    older = [fingerprint_file(site).read_bytes()]
    p, r = (sorted(path for path in site.docs.iterdir() if path.is_dir()).index(site.docs / name) for name in "pr")
    for _ in range(2):
        Disk(site).swap_folders(p, r, "")
        plans = list(in_every_way(site, older))
        assert len({text for look, _, text in plans if look is FULL}) == 1
        assert len({text for look, _, text in plans if look is not FULL}) == 1
        assert {change.id.path for change in site.plan().changes} >= {"p/c.md", "r/c.md"}
        site.apply(allow=EVERYTHING)
        older.append(fingerprint_file(site).read_bytes())


@pytest.mark.slow
@few(400)
@given(st.lists(edits, max_size=6), rounds)
def test_after_many_more_edits_the_plan_is_still_the_same_in_every_way(new_site, first, life):
    check_every_way(new_site, first, life)


def _apply(site, how, disk, saved):
    if how == "no":
        return
    if how == "from a file":
        with suppress(PlanStale, PlanRejected):
            site.apply(load(saved[len(saved) // 2]), allow=EVERYTHING)
        return
    plan = site.plan()
    if how == "before further edits":
        disk.write(len(saved), 0, "too late\n")
        disk.delete(len(saved), 0, "")
        with suppress(PlanStale, PlanRejected):
            site.apply(plan, allow=EVERYTHING)
        return
    if how == "when the clock has moved":
        wait_for_the_clock(site)
    site.apply(plan, allow=EVERYTHING, stat_cache=how != "by reading all")
    assert site.plan().is_empty


# ------------------------------------------------------------------------------------------- work and scope


@pytest.fixture
def work(monkeypatch):
    """What is read from a folder, and what is asked of an index, since."""
    found = []

    def counting(kind, name):
        honest = getattr(kind, name)

        def counted(self, *arguments):
            if arguments != ([],):  # to ask for nothing is no work
                found.append(name)
            return honest(self, *arguments)

        monkeypatch.setattr(kind, name, counted)

    counting(FilesystemSource, "read")
    for name in ("documents", "find", "chunks", "entries", "texts", "rows", "nodes"):
        counting(SqliteReader, name)
    return found


def test_of_many_unchanged_documents_none_is_read_and_of_k_changed_ones_k(new_site, work):
    site = new_site()
    for number in range(300):
        site.write(f"{number % 7}/{number % 5}/{number}.md", f"# n{number}\n\nwords of n{number}.\n")
    site.apply()
    wait_for_the_clock(site)
    site.apply()
    work.clear()
    assert site.plan().is_empty
    assert set(work) <= {"nodes"}
    rng = random.Random(4)
    for changed in (1, 7, 40):
        for number in rng.sample(range(300), changed):
            site.write(f"{number % 7}/{number % 5}/{number}.md", f"# n{number}\n\n{rng.random()}\n")
        work.clear()
        plan = site.plan()
        assert (work.count("read"), work.count("chunks"), work.count("documents")) == (changed, changed, 0)
        assert len(plan.changes) == changed
        work.clear()
        site.apply(plan, allow=EVERYTHING)
        assert work.count("documents") == 0
        wait_for_the_clock(site)
        site.apply()
        work.clear()
        assert site.plan().is_empty
        assert set(work) <= {"nodes"}


def test_touched_documents_are_read_once_each_and_a_missing_one_is_not(new_site, work):
    site = new_site()
    for number in range(40):
        site.write(f"{number % 4}/{number}.md", f"# n{number}\n")
    site.apply()
    wait_for_the_clock(site)
    site.apply()
    for number in range(5):
        os.utime(site.docs / f"{number % 4}" / f"{number}.md")
    (site.docs / "3" / "39.md").unlink()
    work.clear()
    assert [change.id.path for change in site.plan().changes] == ["3/39.md"]
    assert work.count("read") == 5
    assert work.count("documents") == 0


scopes = st.lists(
    st.sampled_from(["p", "p/", "p/q", "docs:p", "docs:p/", "notes:p/q/", "docs:", "notes:", "a.md", "docs:a.md", "P"]),
    min_size=1,
    max_size=3,
)


def in_scope(scope, source, path):
    """docs/cli.md, once more: SOURCE:PATH or PATH of any source, a document or all below a folder."""
    for entry in scope:
        named, colon, rest = entry.partition(":")
        if colon and named in {"docs", "notes"}:
            if named != source:
                continue
        else:
            rest = entry
        place = rest.rstrip("/").split("/") if rest.rstrip("/") else []
        if path.split("/")[: len(place)] == place:
            return True
    return False


@few(30)
@given(corpora, corpora, corpora, corpora, scopes, st.sampled_from(list(Level)))
def test_outside_the_scope_nothing_is_deleted_and_the_rest_is_as_if_it_had_stayed(
    new_site, one, two, three, four, scope, level
):
    """The oracle puts back what is gone outside the scope, and plans without one."""
    site = new_site(rest='[sources.notes]\npath = "notes"')
    before, after = {"docs": one, "notes": two}, {"docs": three, "notes": four}
    shelves = {name: Shelf(held) for name, held in before.items()}
    over(site, **shelves).apply(over(site, **shelves).plan())
    stayed = {
        name: {path: text for path, text in before[name].items() if not in_scope(scope, name, path)} | after[name]
        for name in before
    }
    scoped = over(site, **{name: Shelf(held) for name, held in after.items()}).plan(Look(level, tuple(scope)))
    whole = over(site, **{name: Shelf(held) for name, held in stayed.items()}).plan(Look(level))
    gone = {f"{name}:{path}" for name in before for path in before[name].keys() - after[name].keys()}
    inside = {f"{name}:{path}" for name in before for path in before[name] if in_scope(scope, name, path)}
    assert removed(scoped) == gone & inside
    found, expected = json.loads(dump(scoped)), json.loads(dump(whole))
    assert found.pop("scope") == scope
    assert expected.pop("scope") == []
    # That something is missed and stays may be said, and that a source is empty now; nothing else may differ.
    for told in (found, expected):
        told["findings"] = [each for each in told["findings"] if each["kind"] not in {"missing", "empty_source"}]
    del found["checksum"], expected["checksum"]
    assert found == expected


# ---------------------------------------------------------------------------- what only the fingerprint file knows


@pytest.fixture
def put_in_place(new_site, article):
    """A site whose root folder is another one than at the last apply, with a document less."""
    site = new_site()
    for name in "xyz":
        site.write(f"{name}.md", article(name, sections=1))
    site.apply()
    shutil.copytree(site.docs, site.root / "copy")
    shutil.rmtree(site.docs)
    (site.root / "copy").rename(site.docs)
    (site.docs / "x.md").unlink()
    return site


def guards(plan):
    return [tripped.guard for tripped in plan.tripped]


def test_reading_all_tells_as_well_that_the_root_is_another_folder(put_in_place):
    assert guards(put_in_place.plan()) == ["replaced_root"]
    assert dump(put_in_place.open().plan(stat_cache=False)) == dump(put_in_place.plan())


def test_reading_all_lets_no_plan_pass_a_guard_that_it_tripped(put_in_place):
    plan = put_in_place.plan()
    with pytest.raises(GuardRefused):
        put_in_place.open().apply(plan, stat_cache=False)


def test_reading_all_tells_as_well_that_the_index_is_gone(settled):
    for path in (settled.root / ".steadlith").glob("index*"):
        path.unlink()
    assert [drift.kind for drift in settled.plan().drift] == [DriftKind.INDEX_MISSING]
    assert dump(settled.open().plan(stat_cache=False)) == dump(settled.plan())


def test_another_recipe_does_not_hide_that_the_root_is_another_folder(put_in_place):
    place = put_in_place.root / "steadlith.toml"
    place.write_text(place.read_text("utf-8").replace("max_tokens = 48", "max_tokens = 90"), "utf-8")
    assert "replaced_root" in guards(put_in_place.plan())
