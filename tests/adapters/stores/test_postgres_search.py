"""What is searched: vectors bit for bit, a graph beside the full comparison, and words as the SQLite store has them."""

import os
from contextlib import closing
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from steadlith_adapters.stores.postgres import FACTORY, forms, words
from steadlith_adapters.stores.sqlite import FACTORY as SQLITE
from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    follow,
    pieces,
    space,
    text_row,
    texts_of,
    vector_row,
    version,
    versions,
    write,
    write_vectors,
)
from steadlith_core import vectors
from steadlith_core.text.query import terms

DSN = "STEADLITH_TEST_POSTGRES"
DIMENSIONS, MANY, TOPICS = 32, 4000, 40


def open_store(settings, *, readonly=False):
    return FACTORY.open(settings, root="/", readonly=readonly)


# ------------------------------------------------------------------------------------------------ bits


def test_every_bit_of_a_vector_comes_back(postgres_settings):
    """Signed zeros, subnormal numbers, and bit patterns at random: what was put is what is given out."""
    generator = np.random.default_rng(20)
    rows = []
    for _ in range(200):
        bits = generator.integers(0, 2**32, 64, dtype=np.uint32).view("<f4")
        tiny = np.where(np.isfinite(bits) & (np.abs(bits) < 1e-3), bits, np.float32(-0.0))
        tiny[0] = 1.0
        rows.append(tiny.astype("<f4").tobytes())
    where = space(64)
    with closing(open_store(postgres_settings())) as store:
        given = {f"text {number}": row for number, row in enumerate(rows)}
        write_vectors(store, given, where)
        keys = {vector_row(Piece(text), where).vector_key: row for text, row in given.items()}
        with closing(store.snapshot()) as reader:
            assert reader.vectors(where, list(keys)) == keys


@pytest.mark.parametrize("form", forms.FORMS)
@pytest.mark.parametrize("dimensions", [8, 2000, 2008, 8192])
def test_any_width_that_a_space_may_have_is_kept_and_searched(postgres_settings, form, dimensions):
    where = space(dimensions, quantization=form)
    generator = np.random.default_rng(dimensions)
    given = {
        f"text {number}": vectors.unit(generator.standard_normal(dimensions).astype("<f4").tobytes())
        for number in range(5)
    }
    settings = postgres_settings(ann="hnsw", ann_from=1)
    with closing(open_store(settings)) as store:
        write_vectors(store, given, where)
        with closing(store.snapshot()) as reader:
            for text, row in given.items():
                assert texts_of(reader, reader.dense(where, row, 1)) == [text]
            assert list(reader.problems(full=True)) == []


# ----------------------------------------------------------------------------------------------- graph


@pytest.fixture(scope="module")
def crowd():
    """Vectors about topics, as embeddings of related texts are."""
    generator = np.random.default_rng(7)
    topics = generator.standard_normal((TOPICS, DIMENSIONS))
    rows = topics[np.arange(MANY) % TOPICS] + generator.standard_normal((MANY, DIMENSIONS))
    return {f"text {number}": vectors.unit(row.astype("<f4").tobytes()) for number, row in enumerate(rows)}


@pytest.fixture(scope="module")
def graph(postgres_server, crowd):
    """An index with a graph; made once."""
    settings = {"dsn_env": DSN, "schema": f"graph_{os.getpid()}", "ann": "hnsw", "ann_from": 1000}
    with closing(open_store(settings)) as store:
        write_vectors(store, crowd, space(DIMENSIONS), space(DIMENSIONS, quantization="int8"))
    return settings


def queries():
    generator = np.random.default_rng(8)
    return [vectors.unit(row.astype("<f4").tobytes()) for row in generator.standard_normal((30, DIMENSIONS))]


def test_the_graph_is_made_by_the_commit_that_makes_the_space_large(graph):
    assert indexes(graph) == {"full_1_1_hnsw", "code_2_1_hnsw"}


def test_the_graph_finds_nearly_all_and_scores_are_exact(graph):
    where = space(DIMENSIONS)
    with closing(open_store(graph, readonly=True)) as store, closing(store.snapshot()) as reader:
        assert {"exact", "hnsw"} <= store.capabilities.dense
        found = 0
        for query in queries():
            asked, exact = reader.dense(where, query, 10), reader.dense(where, query, 10, exact=True)
            assert len(asked) == len(exact) == 10
            assert list(asked) == sorted(asked, key=lambda hit: (-hit.score, hit.entry))
            assert {hit.entry: hit.score for hit in asked} == reader.cosines(where, query, [h.entry for h in asked])
            found += len({hit.entry for hit in asked} & {hit.entry for hit in exact})
        assert found >= 0.95 * 10 * len(queries())


def test_exact_means_exact_beside_a_graph(graph, crowd, postgres_settings):
    """The same as in a store without one, whatever was asked before in the same snapshot."""
    with (
        closing(open_store(graph, readonly=True)) as store,
        closing(open_store({**graph, "ann": "none"}, readonly=True)) as plain,
        closing(store.snapshot()) as reader,
        closing(plain.snapshot()) as other,
    ):
        assert "hnsw" not in plain.capabilities.dense
        for where in (space(DIMENSIONS), space(DIMENSIONS, quantization="int8")):
            for query in queries()[:5]:
                reader.dense(where, query, 10)
                wanted = other.dense(where, query, 10, exact=True)
                assert reader.dense(where, query, 10, exact=True) == wanted
                assert uses_graph(reader, where, query, exact=True) is False
                assert uses_graph(reader, where, query, exact=False) is True
                assert uses_graph(other, where, query, exact=False) is False


def uses_graph(reader, where, query, *, exact):
    """Whether the server's plan for the arm's statement has the graph's index in it."""
    from steadlith_adapters.stores.postgres.session import Session

    whole, plans = Session.run, []

    def run(session, sql, *values):
        if "AS distance" in sql:
            plans.extend(line for (line,) in whole(session, f"EXPLAIN {sql}", *values))
        return whole(session, sql, *values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "run", run)
        reader.dense(where, query, 10, exact=exact)
    assert plans
    return any("_hnsw" in line for line in plans)


@pytest.mark.parametrize("share", [100, 3])
def test_a_filter_gets_all_it_asks_for(graph, share, monkeypatch):
    """One entry in a hundred passes: a graph asked for ten and filtered afterwards would find next to none."""
    from steadlith_adapters.stores.postgres import neighbours

    where = space(DIMENSIONS)
    with closing(open_store(graph, readonly=True)) as store, closing(store.snapshot()) as reader:
        among = list(range(1, MANY + 1, share))
        for few in (neighbours.FEW, 0):  # compared one by one, and through the graph
            monkeypatch.setattr(neighbours, "FEW", few)
            for query in queries()[:5]:
                hits = reader.dense(where, query, 10, among)
                assert len(hits) == 10
                assert {hit.entry for hit in hits} <= set(among)
                wanted = reader.dense(where, query, 10, among, exact=True)
                if few:
                    assert hits == wanted
                else:
                    assert len({hit.entry for hit in hits} & {hit.entry for hit in wanted}) >= 8


def test_the_dead_never_hide_the_living_from_a_graph(postgres_settings):
    settings = postgres_settings(ann="hnsw", ann_from=100)
    near = vectors.unit(np.ones(8, "<f4").tobytes())
    far = vectors.unit(np.arange(8, dtype="<f4").tobytes())
    with closing(open_store(settings)) as store:
        write_vectors(store, {f"near {number}": near for number in range(600)}, SPACE, path="dead.md")
        write_vectors(store, {"far": far}, SPACE, path="live.md")
        write(store, {doc("dead.md"): None})
        assert indexes(settings) == {"full_1_1_hnsw"}
        with closing(store.snapshot()) as reader:
            assert texts_of(reader, reader.dense(SPACE, near, 3)) == ["far"]
    with closing(open_store(settings)) as store:
        assert store.compact(store.head(), 3).given_back
        assert indexes(settings) == {"full_1_2_hnsw"}
        with closing(store.snapshot()) as reader:
            assert texts_of(reader, reader.dense(SPACE, near, 3)) == ["far"]


def indexes(settings):
    with psycopg.connect(os.environ[DSN]) as connection:
        query = "SELECT indexname FROM pg_indexes WHERE schemaname = %s AND indexname LIKE '%%hnsw'"
        return {name for (name,) in connection.execute(query, (settings["schema"],))}


# ----------------------------------------------------------------------------------------------- words

SENTENCES = (
    "Connecting to example.com:8080 failed; retry in 1.5 s (see ./docs/retry_policy.md)",
    "def snake_case_name(self, camelCaseName): return -5",
    "Straße, CAFÉ and naïve re-entrancy; e-mail me@example.org",
    "数据库事务处理 and トランザクション管理",
    "the running runner runs; relational relations relate",
    "It's o'clock: don't \\ ' \" | & ! <-> panic",
    "version 18.4 of a b c",
)
ASKED = (
    "retry policy",
    "example.com",
    "8080",
    "snake_case_name",
    "camelcasename",
    "cafe",
    "STRASSE",
    "straße",
    "re-entrancy",
    "事务",
    "トランザクション",
    "run",
    "relation",
    "o'clock",
    "don't",
    "18.4",
    "email",
    "e-mail",
    "me@example.org",
    "docs",
    "1.5",
    "-5",
    "a b",
    "panic \\ '",
    "5",
)


def test_both_stores_find_the_same_texts(postgres_settings, tmp_path):
    """One tokeniser for both: what is a word does not depend on the server."""
    with (
        closing(open_store(postgres_settings())) as store,
        closing(SQLITE.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)) as other,
    ):
        for each in (store, other):
            write(each, {doc("a.md"): pieces(*SENTENCES)})
        with closing(store.snapshot()) as left, closing(other.snapshot()) as right:
            for asked in ASKED:
                found = [set(texts_of(reader, reader.lexical(terms(asked), 50))) for reader in (left, right)]
                assert found[0] == found[1], asked


def test_a_rare_word_tells_more_than_a_common_one(postgres_settings):
    filler = [f"common filler of number {number}" for number in range(50)]
    with closing(open_store(postgres_settings())) as store:
        write(store, {doc("a.md"): pieces("common common common filler", "one rare word here", *filler)})
        with closing(store.snapshot()) as reader:
            assert texts_of(reader, reader.lexical(["common", "rare"], 1)) == ["one rare word here"]


def test_a_text_of_more_words_than_a_row_can_hold_is_kept_and_found(postgres_settings):
    """2 MB of different words, one of 100,000 letters, and 70,000 times the same: cut lexically, whole as a text."""
    many = "needle " + " ".join(f"word{number:07}" for number in range(150_000)) + " afterwards"
    long = "x" * 100_000
    often = "again " * 70_000 + "end"
    with closing(open_store(postgres_settings())) as store:
        write(store, {doc("a.md"): pieces(many, long, often, "nul \0 and \ufffe")})
        with closing(store.snapshot()) as reader:
            for word, text in (("needle", many), ("word0000007", many), (long, long), ("again", often), ("end", often)):
                assert texts_of(reader, reader.lexical(terms(word), 5)) == [text]
            assert reader.lexical(["afterwards"], 5) == ()  # docs/adapters/postgres.md says so
            assert list(reader.problems(full=True)) == []
        write(store, {doc("a.md"): pieces("other")})
        assert list(store.snapshot().problems(full=True)) == []


def test_a_lone_surrogate_comes_back_as_it_was_put(postgres_settings):
    part = Piece("whole")
    lone = replace(text_row(part), text="half \ud800 of a pair")
    with closing(open_store(postgres_settings())) as store:
        transaction = store.begin(store.head())
        given = follow(transaction, store.snapshot(), versions({doc("a.md"): [part]}))
        transaction.put_texts([lone])
        transaction.put_entries([entry_row(part)])
        transaction.put_vectors(SPACE, [vector_row(part)])
        transaction.put_document(version(doc("a.md"), [part]))
        transaction.commit(given)
        with closing(store.snapshot()) as reader:
            assert reader.texts([part.text_hash]) == {part.text_hash: lone.text}
            assert len(reader.lexical(["half"], 5)) == 1


def test_paths_of_any_length_and_script_are_names_in_byte_order(postgres_settings):
    ids = [doc("x" * 9000), doc("é" * 3000), doc("\U0001f680.md"), doc("\uffff.md"), doc("a" + "\x01"), doc("事务")]
    with closing(open_store(postgres_settings())) as store:
        write(store, {each: pieces(f"of {number}") for number, each in enumerate(ids)})
        with closing(store.snapshot()) as reader:
            assert [each.id for each in reader.documents()] == sorted(ids)
            assert set(reader.find(ids)) == set(ids)


def test_words_are_packed_as_the_server_sends_them(postgres_server):
    """Rows are compared byte by byte, so the order and the limits must be the server's own."""
    texts = ["b a b", "zz z zzz é e 事务", "same " * 300, " ".join(f"w{number}" for number in range(20_000))]
    with psycopg.connect(postgres_server.dsn) as connection:
        for text in texts:
            made = words.row("A title", ("One", "Two"), text)
            connection.execute("CREATE TEMP TABLE t(words tsvector) ON COMMIT DROP")
            with connection.cursor().copy("COPY t FROM STDIN (FORMAT BINARY)") as copying:
                copying.write(forms.SIGNATURE + b"\0\x01" + len(made).to_bytes(4, "big") + made + forms.END)
            ((sent,),) = connection.cursor(binary=True).execute("SELECT words FROM t").fetchall()
            assert sent == made
            connection.rollback()
