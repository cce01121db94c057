"""`steadlith manifest export`, `lock`, `prove` and `verify-proof`: a state that leaves its index, and its proof."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options, planfiles
from steadlith_core.errors import ProofError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steadlith.config import Config
    from steadlith.proofs import Claim
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId

LOCK = "steadlith.lock"


@click.group()
def manifest() -> None:
    """Manifests: all that an index holds but texts and vectors, in one file."""


@manifest.command("export")
@options.config
@click.option("--out", type=click.Path(path_type=Path), help="The file to write; by default standard output.")
@click.option("--at", "generation", type=int, metavar="GENERATION", help="A kept generation; by default the head.")
@options.json
def export(config: Path, out: Path | None, generation: int | None, *, json_output: bool) -> None:
    """Write the manifest of the committed state: the same bytes for the same state, everywhere."""
    import steadlith
    from steadlith import files, manifests
    from steadlith.report import documents, offline, offlinedocuments

    if out is None and json_output:
        raise UsageError("--json tells about the file that was written: give --out FILE")
    if out is None and sys.stdout.isatty():
        raise UsageError("a manifest is bytes, and standard output is a terminal: give --out FILE, or redirect")
    with steadlith.open(config) as index:
        history = index.history()
        with index.reader(generation) as reader:
            header = manifests.header(reader, manifests.corpus_trie(reader), history)
            pieces = manifests.export(reader, header)
            if out is None:
                _put(pieces)
                return
            size = files.save(out, pieces)
    if json_output:
        options.put(documents.dumps(offlinedocuments.manifest(out, header, size)))
    else:
        options.show(offline.written(out, header, size))


def _put(pieces: Iterable[bytes]) -> None:
    stdout = sys.stdout.buffer
    with options.reader_may_leave():
        stdout.writelines(pieces)
        stdout.flush()


@click.command()
@options.config
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(LOCK),
    show_default=True,
    help="The file to write.",
)
@options.json
def lock(config: Path, out: Path, *, json_output: bool) -> None:
    """Pin the committed state in a few lines of TOML, for git; `verify --locked` compares with it."""
    import steadlith
    from steadlith import lockfile, manifests
    from steadlith.report import documents, offline, offlinedocuments

    with steadlith.open(config) as index, index.reader() as reader:
        header = manifests.header(reader, reader)
    content = lockfile.dump(lockfile.pin(header))
    planfiles.write(out, content)
    if json_output:
        options.put(documents.dumps(offlinedocuments.lock(out, header)))
    else:
        options.show(offline.written(out, header, len(content.encode("utf-8"))))


@click.command()
@click.argument("document", metavar="DOC")
@click.argument("chunk", required=False)
@options.config
@click.option("--out", type=click.Path(path_type=Path), help="Write the proof here, for `steadlith verify-proof`.")
@options.json
def prove(document: str, chunk: str | None, config: Path, out: Path | None, *, json_output: bool) -> None:
    """Prove that the index holds the document DOC, a CHUNK of it, or no such document.

    DOC is source:path, or a path alone where there is one source. CHUNK is a position, counted from 0, or how the
    chunk's hash begins. `search --json` has both.
    """
    import steadlith
    from steadlith import proofs
    from steadlith.report import documents, offline

    with steadlith.open(config) as index:
        id_ = _named(index.config, document)
        with index.reader() as reader:
            proven = proofs.prove(reader, id_, chunk)
    if out is not None:
        planfiles.write(out, proofs.dump(proven.claim))
    if json_output:
        options.put(documents.dumps(proofs.document(proven.claim)))
        return
    options.show(offline.proven(proven))
    if out is None:
        click.echo(f"(--out FILE keeps the proof, {len(proven.claim.proof):,} bytes)", err=True)


def _named(config: Config, document: str) -> DocumentId:
    """The id that is meant. One that no source could have is an error: its absence would prove a mistyped name."""
    from steadlith_core.records import DocumentId

    source, colon, path = document.partition(":")
    if colon and source in config.sources:
        return DocumentId(source, path)
    if len(config.sources) == 1:
        return DocumentId(next(iter(config.sources)), document)
    raise UsageError(f"{document!r}: expected source:path, with one of the sources {', '.join(sorted(config.sources))}")


@click.command("verify-proof")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--root", required=True, help="The corpus root that you trust (b3:...).")
@click.option(
    "--text", type=click.Path(path_type=Path, dir_okay=False), help="Also check that this is the chunk's text."
)
@options.json
def verify_proof(file: Path, root: str, text: Path | None, *, json_output: bool) -> None:
    """Check a proof FILE under a corpus root. Needs no configuration and no index."""
    from steadlith import proofs
    from steadlith.report import documents, offline, offlinedocuments

    given = None if text is None else _read(text)
    trusted = digest("--root", root)
    assert trusted is not None  # it is required
    proven = proofs.verify(_claim(file), trusted, given)
    if json_output:
        options.put(documents.dumps(offlinedocuments.proven(proven)))
    else:
        options.show(offline.proven(proven))


def _claim(file: Path) -> Claim:
    from steadlith import proofs

    try:
        return proofs.load(_read(file))
    except ProofError as error:
        why = "not a proof file: not UTF-8" if isinstance(error.__cause__, UnicodeDecodeError) else str(error)
        raise ProofError(f"{file}: {why}; `steadlith prove DOC --out FILE` writes one") from error


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ProofError(f"cannot read {file}: {error.strerror or error}") from error


def digest(option: str, given: str | None) -> Digest | None:
    """A digest from the command line; none if none was given."""
    from steadlith_core.digest import Digest

    try:
        return None if given is None else Digest.parse(given)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
