"""Small changes to a module of Python that a good test must notice: mutants, made one at a time, always in one order.

1. A mutant changes one place in one way. Its name says module, line, what stood there and what stands there now.
2. What no run can tell apart is not changed: documentation, annotations, imports, `__all__`, texts of messages.
3. A sample of any size is the same on every machine, and a larger one holds the smaller.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
UNWRAPPED = {"sorted", "reversed", "frozenset", "set"}
"""Calls that are left out: their argument stands alone, as a list."""

LONGEST = 90
"""Characters of what stood there that a name shows."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed module. `name` is unique within the module and free of line numbers, so that it outlives edits."""

    name: str
    kind: str
    line: int
    source: str


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    tree = ast.parse(source)
    before, untouched, owners = ast.unparse(tree), _untouched(tree), _owners(tree)
    found: list[Mutant] = []
    names: set[str] = set()
    for node, put in _places(tree):
        if node in untouched:
            continue
        for kind, changed, became in _changes(node):
            put(ast.fix_missing_locations(changed))
            text = ast.unparse(tree)
            put(node)
            if text != before:
                line = _line(node)
                owner = max((each for each in owners if each[0] <= line <= each[1]), default=(0, 0, "module"))[2]
                name = _unique(f"{owner}: {_shown(node)} -> {became}", names)
                found.append(Mutant(name, kind, line, text))
    return sorted(found, key=lambda mutant: (mutant.line, mutant.name))


def sample(found: list[Mutant], size: int, salt: str) -> list[Mutant]:
    """So many of them, chosen by a hash of their names, in their order."""
    chosen = sorted(found, key=lambda mutant: blake2b(f"{salt} {mutant.name}".encode()).digest())[:size]
    return [mutant for mutant in found if mutant in chosen]


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:  # noqa: C901, PLR0912 -- one case a kind
    """What may stand in a node's place: the kind of change, the node, and how it reads."""
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in COMPARISONS:
            yield _change("comparison", ast.Compare(left, [COMPARISONS[type(operator)]()], [right]))
        case ast.BoolOp(operator, values):
            yield _change("and/or", ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values))
        case ast.UnaryOp(ast.Not(), operand):
            yield _change("negation", operand)
        case ast.Constant(bool(value)):
            yield _change("constant", ast.Constant(not value))
        case ast.Constant(int(value)):
            yield _change("constant", ast.Constant(value + 1))
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield _change("arithmetic", ast.BinOp(left, OPERATORS[type(operator)](), right))
        case ast.Call(ast.Name(name), [argument, *_], _) if name in NAMES | dict.fromkeys(UNWRAPPED):
            if name in NAMES:
                yield _change("min/max/any/all", ast.Call(ast.Name(NAMES[name]), node.args, node.keywords))
            elif not isinstance(argument, ast.Starred):
                yield _change("call left out", ast.Call(ast.Name("list"), [argument], []))
        case ast.Call(function, [first, second, *rest], keywords) if not isinstance(first, ast.Starred):
            if not isinstance(second, ast.Starred) and not (
                isinstance(function, ast.Name) and function.id == "isinstance"
            ):
                yield _change("swapped arguments", ast.Call(function, [second, first, *rest], keywords))
        case ast.IfExp(test, body, other):
            yield _change("swapped branches", ast.IfExp(test, other, body))
        case ast.If(test, body, other) | ast.While(test, body, other):
            negated = ast.UnaryOp(ast.Not(), test)
            yield "negated condition", type(node)(negated, body, other), f"not ({ast.unparse(test)})"
        case ast.comprehension(target, values, [_, *_], is_async):
            yield _change("filter left out", ast.comprehension(target, values, [], is_async))
        case ast.Slice(lower, upper, step) if lower or upper:
            yield _change("slice left out", ast.Slice(None, None, step))
        case ast.Dict(keys, values) if len(keys) > 1:
            for place, key in enumerate(keys):
                if key is not None:
                    left = ast.Dict(keys[:place] + keys[place + 1 :], values[:place] + values[place + 1 :])
                    yield "row left out", left, f"without {_shown(key)}"
        case ast.Raise() | ast.AugAssign() | ast.Expr(ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield _change("statement left out", ast.Pass())
        case ast.Return(value) if value is not None and not _is_none(value):
            yield _change("nothing returned", ast.Return(ast.Constant(None)))
        case ast.Continue():
            yield _change("loop control", ast.Break())
        case ast.Break():
            yield _change("loop control", ast.Continue())


def _line(node: ast.AST) -> int:
    found: int = getattr(node.target if isinstance(node, ast.comprehension) else node, "lineno", 0)
    return found


def _change(kind: str, node: ast.AST) -> tuple[str, ast.AST, str]:
    return kind, node, _shown(node)


def _shown(node: ast.AST) -> str:
    first = node.test if isinstance(node, ast.If | ast.While) else node
    text = " ".join(ast.unparse(ast.fix_missing_locations(first)).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _unique(name: str, names: set[str]) -> str:
    """The name, with a number where the same change was made in the same function before."""
    number, found = 1, name
    while found in names:
        number += 1
        found = f"{name} ({number})"
    names.add(found)
    return found


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _owners(tree: ast.Module) -> list[tuple[int, int, str]]:
    """First line, last line and name of every function and class: the innermost one begins last."""
    return [
        (node.lineno, node.end_lineno or 0, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def _places(tree: ast.Module) -> list[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Every node but the module, level by level, with what puts another one in its place."""
    found: list[tuple[ast.AST, Callable[[ast.AST], None]]] = []
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                found.append((value, partial(setattr, parent, field)))
            elif isinstance(value, list):
                places = enumerate(value)
                found += [
                    (each, partial(value.__setitem__, place)) for place, each in places if isinstance(each, ast.AST)
                ]
    return found


def _untouched(tree: ast.Module) -> frozenset[ast.AST]:
    """The nodes that rule 2 speaks of, and all below them."""
    parts = (part for node in ast.walk(tree) for part in _parts_untouched(node))
    return frozenset(inner for part in parts for inner in ast.walk(part))


def _parts_untouched(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Assert():
            yield node
        case ast.If(ast.Name("TYPE_CHECKING")):
            yield node
        case ast.FunctionDef():
            yield from node.decorator_list
            yield from filter(None, [node.returns, *(each.annotation for each in node.args.args)])
            yield from filter(None, (each.annotation for each in node.args.kwonlyargs))
        case ast.ClassDef():
            yield from node.decorator_list
        case ast.AnnAssign(_, ast.Name("TypeAlias")):
            yield node
        case ast.AnnAssign(_, annotation):
            yield annotation
