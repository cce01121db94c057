"""Every wrapper has exactly its port's methods, passes each on once, and tells what it passes on."""

import inspect

import pytest

from steadlith_adapters.wrappers.caches import WrappedCache
from steadlith_adapters.wrappers.cassette import CassetteFactory, PlayingEmbedder, RecordingEmbedder
from steadlith_adapters.wrappers.dry_run import DryRunCache, DryRunEmbedders
from steadlith_adapters.wrappers.dry_run.embedders import DryRunEmbedder
from steadlith_adapters.wrappers.dry_run.stores import DryRunStore
from steadlith_adapters.wrappers.embedders import WrappedEmbedder
from steadlith_adapters.wrappers.factories import WrappedCaches, WrappedEmbedders, WrappedSources, WrappedStores
from steadlith_adapters.wrappers.reading import WrappedReader
from steadlith_adapters.wrappers.retry import REPEATABLE
from steadlith_adapters.wrappers.sources import WrappedSource
from steadlith_adapters.wrappers.stores import WrappedStore, WrappedTransaction
from steadlith_core import ports

WRAPPERS = [
    (WrappedEmbedder, ports.Embedder),
    (WrappedCache, ports.Cache),
    (WrappedSource, ports.Source),
    (WrappedStore, ports.Store),
    (WrappedReader, ports.Reader),
    (WrappedTransaction, ports.Transaction),
]
OTHERS = [
    (DryRunEmbedder, ports.Embedder),
    (PlayingEmbedder, ports.Embedder),
    (RecordingEmbedder, ports.Embedder),
    (DryRunCache, ports.Cache),
    (DryRunStore, ports.Store),
    (CassetteFactory, ports.EmbedderFactory),
    (DryRunEmbedders, ports.EmbedderFactory),
    (WrappedEmbedders, ports.EmbedderFactory),
    (WrappedCaches, ports.CacheFactory),
    (WrappedSources, ports.SourceFactory),
    (WrappedStores, ports.StoreFactory),
]
OF_ITS_OWN = {RecordingEmbedder: {"dump"}}
ANSWERS = {"list": iter(()), "documents": iter(()), "problems": iter(()), "entries": iter(())}


def named(wrapper, port):
    return pytest.param(wrapper, port, id=wrapper.__name__)


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


def shape(kind, name):
    """Names, kinds and defaults of a method's parameters, or that it is a property."""
    found = inspect.getattr_static(kind, name)
    if isinstance(found, property):
        return "property"
    return [(each.name, each.kind, each.default) for each in inspect.signature(found).parameters.values()]


@pytest.mark.parametrize(("wrapper", "port"), [named(*each) for each in (*WRAPPERS, *OTHERS)])
def test_a_wrapper_has_exactly_the_methods_of_its_port(wrapper, port):
    assert public(wrapper) - OF_ITS_OWN.get(wrapper, set()) == public(port)
    for name in public(port):
        assert shape(wrapper, name) == shape(port, name), name
    assert not hasattr(wrapper, "__getattr__")


def methods(port):
    return sorted(name for name in public(port) if shape(port, name) != "property")


def signs(name, parameters):
    """Arguments that can be told from one another, by the names of the parameters."""
    return {each: [f"{name} {each}"] for each, _, _ in parameters[1:]}


class Inner:
    """Notes what it is asked, and answers with something that can be told from everything else."""

    def __init__(self, port):
        self.asked = []
        for name in methods(port):
            setattr(self, name, self._noting(port, name))

    def _noting(self, port, name):
        names = [each for each, _, _ in shape(port, name)[1:]]

        def note(*positional, **by_name):
            self.asked.append((name, dict(zip(names, positional, strict=False)) | by_name))
            return ANSWERS.get(name, f"answer of {name}")

        return note


@pytest.mark.parametrize(("wrapper", "port"), [named(*each) for each in WRAPPERS])
def test_every_call_is_passed_on_once_as_it_is_and_told_by_name(wrapper, port):
    inner, told = Inner(port), []

    def around(call, perform):
        told.append((call.port, call.method, dict(call.arguments)))
        return perform()

    wrapped = wrapper(inner, around)
    for name in methods(port):
        given = signs(name, shape(port, name))
        answer = getattr(wrapped, name)(**given)
        (asked,) = inner.asked
        passed = {key: list(value) for key, value in asked[1].items() if key != "known"}
        assert (asked[0], passed) == (name, {key: value for key, value in given.items() if key != "known"})
        ((said_port, said, arguments),) = told
        assert f"{said_port}.{said}" == f"{port.__name__.lower()}.{name}"
        assert set(arguments) == set(given) - {"known"}
        if name not in ANSWERS and name not in {"snapshot", "begin", "backup"}:
            assert answer == f"answer of {name}"
        inner.asked.clear()
        told.clear()


def test_what_may_be_repeated_are_methods_of_the_ports():
    known = {f"{port.__name__.lower()}.{name}" for _, port in WRAPPERS for name in methods(port)}
    assert known >= REPEATABLE
    assert not any(name.startswith("transaction.") for name in REPEATABLE)
    for changes in (
        "store.begin",
        "store.tag",
        "store.compact",
        "store.backup",
        "cache.prune",
        "cache.drop",
        "cache.add",
    ):
        assert changes in known
        assert changes not in REPEATABLE
