"""Saboteurs: adapters that keep every promise but one.

1. A saboteur wraps an adapter that passes, and replaces a few of its methods; what it replaces none of is honest.
2. It names the rules that it breaks. The kit must catch it by each of them; what else it trips over is not asked.
3. `kept` is what all parts of one index (or one cache, one embedder) share, so that a fault may depend on what was.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial


@dataclass(frozen=True)
class Saboteur:
    """Faults by the object and the method that they replace: `reader.dense`."""

    name: str
    what: str
    rules: tuple[str, ...]
    faults: dict


HONEST = Saboteur("honest", "Keeps every promise.", (), {})


@dataclass
class Table:
    """The saboteurs of one kind of adapter."""

    kind: str
    saboteurs: dict = field(default_factory=lambda: {"honest": HONEST})

    def breaks(self, method, *rules):
        """Register a function as the fault of `method`, under its own name; a second one adds to the first."""

        def register(fault):
            name = fault.__name__
            assert name not in self.saboteurs, f"two saboteurs are called {name}"
            self.saboteurs[name] = Saboteur(name, (fault.__doc__ or "").strip(), rules, {method: fault})
            return fault

        return register

    def also(self, saboteur, method):
        """One more method that the saboteur replaces."""

        def register(fault):
            self.saboteurs[saboteur.__name__].faults[method] = fault
            return fault

        return register


KINDS = ("stores", "factories", "caches", "embedders", "sources", "chunkers", "tokenizers", "formats")
TABLES = {kind: Table(kind) for kind in KINDS}
STORES, FACTORIES, CACHES, EMBEDDERS, SOURCES, CHUNKERS, TOKENIZERS, FORMATS = TABLES.values()


class Wrapped:
    """An adapter's object, some methods of which are replaced. A fault is called with this and the call's arguments."""

    def __init__(self, inner, role, saboteur, kept=None, parent=None):
        self.inner = inner
        self.role = role
        self.saboteur = saboteur
        self.kept = defaultdict(dict) if kept is None else kept
        self.parent = parent

    def __getattr__(self, name):
        fault = self.saboteur.faults.get(f"{self.role}.{name}")
        if fault is not None:
            if name in PROPERTIES.get(self.role, ()):
                return fault(self)
            found = partial(fault, self)
        else:
            found = getattr(self.inner, name)
        role = MADE.get(f"{self.role}.{name}")
        if role is None:
            return found
        return lambda *given, **options: self.wrap(found(*given, **options), role)

    def wrap(self, made, role):
        return made if isinstance(made, Wrapped) else Wrapped(made, role, self.saboteur, self.kept, self)


MADE = {
    "store.snapshot": "reader",
    "store.begin": "write",
    "store.backup": "store",
    "indexes.lock": "lock",
    "embedders.build": "embedder",
    "policies.build": "chunker",
    "measures.build": "measure",
}
"""What a method makes that is wrapped in its turn."""
PROPERTIES = {
    "store": {"capabilities"},
    "reader": {"head", "generation"},
    "chunker": {"id", "params"},
    "measure": {"id"},
}
"""What is read and not called."""
