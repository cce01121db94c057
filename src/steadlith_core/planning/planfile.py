"""The plan file: JSON that a person can review, a pull request can carry, and apply can check.

1. Deterministic bytes: sorted keys, no floats, ASCII; its checksum is the plan's digest (format.md 7).
2. `format_version` "1.0": a minor version adds keys, which are ignored; another major version is refused.
3. A plan file is a claim (invariant 13): this module checks its shape and its checksum, never its truth.
"""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Never, TypeVar

from steadlith_core.digest import Digest, hash_pieces, hasher
from steadlith_core.errors import PlanFileError, PlanRejected
from steadlith_core.planning.cost import Cost
from steadlith_core.planning.layout import lay_out
from steadlith_core.planning.plan import Base, Brought, DocumentChange, Drift, Fate, Plan, Repair, Target, Tripped
from steadlith_core.planning.steps import KINDS, NAMES, Reason, Step
from steadlith_core.records import DocumentId, DriftKind, Finding, FindingKind, Level, Recipe, Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FORMAT_VERSION = "1.0"
KIND = "steadlith-plan"

Record = TypeVar("Record")


def plan_digest(plan: Plan) -> Digest:
    """H[plan] of the file's body: what a generation records, and what the file's checksum is.

    Holds one change of a document at a time, so that a large plan is not laid out in memory to be named.
    """
    return hash_pieces("plan", _compact(plan))


def dump(plan: Plan) -> str:
    """The plan file, with a final line end; the same plan gives the same text everywhere."""
    return lay_out(document(plan)) + "\n"


def is_plan_file(content: bytes) -> bool:
    """Whether these bytes are laid out as `dump` lays a plan out: a file of ours, never a document."""
    return content.startswith(b'{\n "') and f'\n "kind": "{KIND}",\n'.encode() in content


def document(plan: Plan) -> dict[str, Any]:
    """The same as a JSON value, for `--json`."""
    return {**_head(plan), "changes": [_change(change) for change in plan.changes], "checksum": str(plan_digest(plan))}


def load(text: str) -> Plan:
    """Read a plan file. `PlanFileError` if it is none that this version reads, `PlanRejected` if it was edited."""
    try:
        body = json.loads(text)
    except ValueError as error:
        message = f"not a plan file: {error}"
        raise PlanFileError(message) from error
    if not isinstance(body, dict) or body.get("kind") != KIND:
        message = f'not a plan file: expected an object with "kind": "{KIND}"'
        raise PlanFileError(message)
    version = body.get("format_version")
    if not isinstance(version, str) or version.split(".")[0] != FORMAT_VERSION.split(".", maxsplit=1)[0]:
        message = f"plan file of format {version!r}; this version reads {FORMAT_VERSION} (plan again)"
        raise PlanFileError(message)
    checksum = body.pop("checksum", None)
    if checksum != str(hasher("plan")(_json(body).encode("ascii"))):
        message = f"the plan file was changed after it was written (checksum {checksum!r} does not match); plan again"
        raise PlanRejected(message)
    return _read(body)


# format.md 7.2: the digest is over compact JSON with sorted keys.
_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _compact(plan: Plan) -> Iterator[bytes]:
    """The body as compact JSON, in pieces."""
    head = {**_head(plan), "changes": []}
    before, after = _json(head).encode("ascii").split(b'"changes":[]')
    yield before + b'"changes":['
    for position, change in enumerate(plan.changes):
        yield b"," * (position > 0) + _json(_change(change)).encode("ascii")
    yield b"]" + after


def _head(plan: Plan) -> dict[str, Any]:
    """The body of the file, but for the changes."""
    brought = {} if plan.configuration is None else {"configuration": _plain(plan.configuration)}
    return {
        **brought,
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "tool": plan.tool,
        "config_digest": str(plan.config_digest),
        "recipe": recipe_document(plan.recipe),
        "recipe_changed": plan.recipe_changed,
        "base": _plain(plan.base),
        "target": _plain(plan.target),
        "counts": dict(plan.counts),
        "kept": {"documents": plan.kept_documents, "chunks": plan.kept_chunks},
        "cost": _plain(plan.cost),
        "refresh": str(plan.level),
        "drift": [_plain(drift) for drift in plan.drift],
        "mended": [_plain(id_) for id_ in plan.mended],
        "refresh_only": plan.repair_only,
        "scope": list(plan.scope),
        "held": [_plain(id_) for id_ in plan.held],
        "rollback_to": plan.rollback_to,
        "preview": plan.preview,
        "store": {name: _listed(value) for name, value in plan.store.items()},
        "guards": [_plain(tripped) for tripped in plan.tripped],
        "findings": [_plain(finding) for finding in plan.findings],
    }


def recipe_document(recipe: Recipe) -> dict[str, Any]:
    """A recipe as a JSON value."""
    return {**_plain(recipe), "spaces": [_plain(space) for space in recipe.spaces]}


def _change(change: DocumentChange) -> dict[str, Any]:
    return {
        "document": _plain(change.id),
        "fate": str(change.fate),
        "origin": _plain(change.origin) if change.origin else None,
        "source": str(change.source_digest) if change.source_digest else None,
        "kept": change.kept,
        "steps": [{"kind": NAMES[type(step)], **_plain(step)} for step in change.steps],
    }


def _plain(record: Any) -> dict[str, Any]:
    """One level of a record: digests and enums print, ids open up, numbers and text stay."""
    # The names of a record's fields, as it was made with them.
    return {name: _value(getattr(record, name)) for name in record.__match_args__}


def _value(value: Any) -> Any:
    if isinstance(value, DocumentId):
        return _plain(value)
    return str(value) if isinstance(value, Digest | Reason | FindingKind | DriftKind | Repair) else value


def _listed(value: str | int | tuple[str, ...]) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _capability(value: Any) -> str | int | tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, list) else value if isinstance(value, int) else _text(value)


def _read(body: Mapping[str, Any]) -> Plan:
    try:
        kept = _get(body, "kept", _object)
        plan = Plan(
            tool=_get(body, "tool", _text),
            config_digest=_get(body, "config_digest", _hash),
            recipe=_recipe(_get(body, "recipe", _object)),
            recipe_changed=_get(body, "recipe_changed", _flag),
            base=_record(Base, _get(body, "base", _object)),
            target=_record(Target, _get(body, "target", _object)),
            changes=tuple(_read_change(change) for change in _get(body, "changes", _list)),
            kept_documents=_get(kept, "documents", _count),
            kept_chunks=_get(kept, "chunks", _count),
            cost=_record(Cost, _get(body, "cost", _object)),
            level=_get(body, "refresh", Level),
            drift=tuple(_record(Drift, item, kind=DriftKind) for item in _get(body, "drift", _list)),
            mended=tuple(_document_id(item) for item in _get(body, "mended", _list)),
            repair_only=_get(body, "refresh_only", _flag),
            scope=tuple(_text(item) for item in _get(body, "scope", _list)),
            held=tuple(_document_id(item) for item in _get(body, "held", _list)),
            rollback_to=_get(body, "rollback_to", _maybe(_count)),
            configuration=_get({"configuration": None, **body}, "configuration", _maybe(_brought)),
            preview=_get(body, "preview", _flag),
            store={name: _capability(value) for name, value in _get(body, "store", _object).items()},
            tripped=tuple(_record(Tripped, item) for item in _get(body, "guards", _list)),
            findings=tuple(_record(Finding, item) for item in _get(body, "findings", _list)),
        )
        _refuse_contradictions(plan, _get(body, "counts", _object))
    except ValueError as error:
        message = f"not a plan file: {error}"
        raise PlanFileError(message) from error
    return plan


def _refuse_contradictions(plan: Plan, counts: Mapping[str, Any]) -> None:
    """What the file shows must be what it holds: a document once, in order, and counts that are those of its steps."""
    for before, after in pairwise(change.id for change in plan.changes):
        if before >= after:
            message = f"changes are out of order, or one is there twice, at {after}"
            raise ValueError(message)
    if dict(counts) != dict(plan.counts):
        message = f"'counts' are {dict(counts)!r:.200}, the steps make {dict(plan.counts)!r}"
        raise ValueError(message)


def _read_change(value: Any) -> DocumentChange:
    change = _object(value)
    origin, source = change.get("origin"), change.get("source")
    return DocumentChange(
        id=_document_id(_get(change, "document", _object)),
        fate=_get(change, "fate", Fate),
        origin=None if origin is None else _document_id(origin),
        source_digest=None if source is None else _hash(source),
        kept=_get(change, "kept", _count),
        steps=tuple(_read_step(step) for step in _get(change, "steps", _list)),
    )


def _read_step(value: Any) -> Step:
    step = _object(value)
    kind: type[Step] | None = KINDS.get(_get(step, "kind", _text))
    if kind is None:
        message = f"no step of kind {step['kind']!r} (there are {', '.join(KINDS)})"
        raise ValueError(message)
    return _record(kind, step)


def _recipe(value: Mapping[str, Any]) -> Recipe:
    spaces = tuple(_record(Space, _object(space)) for space in _get(value, "spaces", _list))
    return _record(Recipe, {**value, "spaces": spaces})


def _record(kind_of: type[Record], value: Any, **readers: Callable[[Any], Any]) -> Record:
    """Build a flat record, each field by its reader in `readers`, or by the one that its name has in `READERS`."""
    source = _object(value)
    names = [field.name for field in fields(kind_of)]  # type: ignore[arg-type]  # every caller passes a dataclass
    return kind_of(**{name: _get(source, name, readers.get(name) or READERS[name]) for name in names})


def _get(value: Mapping[str, Any], key: str, read: Callable[[Any], Any]) -> Any:
    if key not in value:
        message = f"{key!r} is missing"
        raise ValueError(message)
    try:
        return read(value[key])
    except ValueError as error:
        message = f"{key!r}: {error}"
        raise ValueError(message) from error


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse("an object", value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else _refuse("a list", value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _refuse("text", value)


def _flag(value: Any) -> bool:
    return value if isinstance(value, bool) else _refuse("true or false", value)


def _count(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
        return value
    return _refuse("a whole number", value)


def _hash(value: Any) -> Digest:
    return Digest.parse(_text(value))


def _brought(value: Any) -> Brought:
    return _record(Brought, value)


def _document_id(value: Any) -> DocumentId:
    return _record(DocumentId, value)


def _maybe(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _refuse(expected: str, value: Any) -> Never:
    message = f"expected {expected}, got {value!r:.60}"
    raise ValueError(message)


READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("chunk_hash", "old_chunk_hash", "corpus_root", "state_root", "sources_root", "over"), _hash),
    **dict.fromkeys(("chunker_params_hash", "content_hash", "params_hash"), _hash),
    **dict.fromkeys(("old_position", "generation", "documents", "chunks", "tokens", "dimensions"), _count),
    **dict.fromkeys(("embeddings", "cached", "rekeyed", "repeated", "calls", "probe_texts"), _count),
    **dict.fromkeys(("normalizer_id", "chunker_id", "template_id", "lexical_id", "model_id"), _text),
    **dict.fromkeys(("quantization", "guard", "message", "override", "place", "path", "counted_by", "text"), _text),
    **dict.fromkeys(("lineage", "amount", "currency", "price_as_of"), _maybe(_text)),
    **dict.fromkeys(("paid", "local"), _flag),
    **dict.fromkeys(("position", "error_percent"), _maybe(_count)),
    "vector_key": _maybe(_hash),
    "origin": _maybe(_document_id),
    "source": _text,
    "reason": Reason,
    "repair": Repair,
    "kind": FindingKind,
    "spaces": tuple,
}
