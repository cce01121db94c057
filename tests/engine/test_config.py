from decimal import Decimal

import pytest

from steadlith import config, starter
from steadlith.assembly import Assembly
from steadlith_core.errors import ConfigError, UsageError

GOOD = """
[sources.docs]
path = "d"
front_matter = ["tags"]
[embedding]
embedder = "hash"
dimensions = 64
price_per_million_tokens = 0.02
price_as_of = "2026-11-01"
"""


def load(tmp_path, text):
    path = tmp_path / "steadlith.toml"
    path.write_text(text, "utf-8")
    return config.load(path)


def test_a_good_file_becomes_frozen_records_with_defaults(tmp_path):
    loaded = load(tmp_path, GOOD)
    assert loaded.root == tmp_path
    assert loaded.sources["docs"].adapter == config.Adapter("filesystem", {"path": "d"})
    assert loaded.sources["docs"].front_matter == ("tags",)
    assert loaded.embedding.embedder == config.Adapter("hash", {"dimensions": 64})
    assert loaded.embedding.price.per_million == Decimal("0.02")
    assert (loaded.store.type, loaded.cache.type, loaded.chunking.type) == ("sqlite", "sqlite", "structural")
    with pytest.raises(AttributeError):
        loaded.file = None


@pytest.mark.parametrize(
    ("addition", "parts"),
    [
        ("[sorces.x]", ["'sorces'", "did you mean 'sources'"]),
        ("[guards]\nremoved_document = 1", ["'guards.removed_document'", "did you mean 'removed_documents'"]),
        ("[guards]\nremoved_documents = -1", ["guards.removed_documents = -1", "whole number from 0"]),
        ("[guards]\nremoved_documents = true", ["guards.removed_documents = True"]),
        ("[guards]\nremoved_documents_percent = 101", ["from 0 to 100"]),
        ("[store]\ncollection = 'x'", ["store.collection = 'x'", "one logical index"]),
        ("[store]\nalias = 'x'", ["store.alias = 'x'", "no alias is needed"]),
        ("collection = 'x'", ["collection = 'x'"]),
        ("store = 3", ["store = 3", "expected a table"]),
        ("[cache]\ntype = ''", ["cache.type = ''", "expected text"]),
    ],
)
def test_a_bad_setting_names_the_key_the_value_and_the_choices(tmp_path, addition, parts):
    text = f"{addition}\n{GOOD}" if "=" in addition and "[" not in addition else f"{GOOD}\n{addition}"
    if addition == "store = 3":
        text = f"{addition}\n{GOOD}"
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("template = 'fancy'", ["embedding.template = 'fancy'", "breadcrumb, plain"]),
        ("batch_size = 0", ["embedding.batch_size = 0", "from 1 to 4096"]),
        ("concurrency = 1.5", ["embedding.concurrency", "whole number"]),
        ("max_retry_time = -1", ["embedding.max_retry_time = -1", "number of seconds from 0 to 86400"]),
        ("max_retry_time = 86401", ["number of seconds from 0 to 86400"]),
        ("max_retry_time = nan", ["embedding.max_retry_time", "number of seconds"]),
        ("max_retry_time = 1e99999999999999999999", ["impossible exponent"]),
        ("max_retry_time = true", ["embedding.max_retry_time = True"]),
        ("max_retry_time = '1m'", ["embedding.max_retry_time = '1m'"]),
        ("audit = 'loose'", ["embedding.audit = 'loose'", "usual, strict"]),
        ("price_per_million_tokens = -1", ["embedding.price_per_million_tokens = -1", "from 0 up"]),
        ("price_per_million_tokens = nan", ["embedding.price_per_million_tokens"]),
        ("price_per_million_tokens = 'free'", ["embedding.price_per_million_tokens = 'free'"]),
        ("price_per_million_tokens = 1e400", ["embedding.price_per_million_tokens", "less than 1000000000"]),
        ("price_per_million_tokens = 1000000000", ["less than 1000000000"]),
        ("price_per_million_tokens = 1e99999999999999999999", ["impossible exponent"]),
        ("price_as_of = 'last week'", ["embedding.price_as_of = 'last week'", "YYYY-MM-DD"]),
        ("price_as_of = '20261101'", ["YYYY-MM-DD"]),
        ("price_as_of = 2026-11-01T10:00:00", ["YYYY-MM-DD"]),
        ("price_as_of = 20261101", ["YYYY-MM-DD"]),
    ],
)
def test_a_bad_embedding_setting_is_named(tmp_path, line, parts):
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, f"[sources.docs]\n[embedding]\nembedder = 'hash'\n{line}")
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[embedding]\nembedder='hash'", "names no source"),
        ("[sources.'a b']\n[embedding]\nembedder='hash'", "letters, digits"),
        ("[sources.docs]", "embedding.embedder is missing"),
        ("not toml", "is not TOML"),
        ("x = " + "9" * 5000, "is not TOML"),
        ("x = " + "[" * 5000, "nested too deeply"),
        ("store.alias." + "a." * 5000 + "a = 1", "nested too deeply|not a setting here"),  # as deep as this Python goes
    ],
)
def test_what_is_missing_is_said(tmp_path, text, part):
    with pytest.raises(ConfigError, match=part):
        load(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "[sources]\ninclude = ['docs/**/*.md']\n",
        "[chunker]\nstrategy = 'cdc-rabin'\n",
        "[index]\nbackend = 'sqlite'\n",
        "[store]\ncache = '.steadlith/cache.sqlite3'\n",
    ],
)
def test_a_configuration_of_steadlith_1_is_recognised_and_refused_with_the_way(tmp_path, text):
    with pytest.raises(ConfigError, match=r"steadlith 1\.x.*steadlith import"):
        load(tmp_path, text)


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    assert load(tmp_path, "\ufeff" + GOOD) == load(tmp_path, GOOD)


def test_the_day_of_a_price_may_be_a_date_of_toml(tmp_path):
    written = load(tmp_path, GOOD.replace('"2026-11-01"', "2026-11-01"))
    assert written.embedding == load(tmp_path, GOOD).embedding


INDEX = ".steadlith/index.sqlite3"


@pytest.mark.parametrize(
    ("store", "cache"),
    [
        ("x/i.db", "x/i.db"),
        ("x/i.db", "./x/../x/i.db"),
        ("x/i.db", "link/i.db"),
        ("x/i.db", "x/i.db-wal"),
        ("x/i.db", "x/i.db.lock"),
        (None, INDEX),
        (".steadlith/cache.sqlite3", None),
    ],
)
def test_the_index_and_the_cache_in_one_file_are_refused_with_both_keys(tmp_path, store, cache):
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to("x")
    tables = {"store": store, "cache": cache}
    text = "".join(f"[{name}]\npath = '{path}'\n" for name, path in tables.items() if path)
    assembly = Assembly(load(tmp_path, GOOD + text))
    for use in (lambda: assembly.private_files, lambda: assembly.open_cache(readonly=False)):
        with pytest.raises(ConfigError, match=r"store\.path, cache\.path") as raised:
            use()
        assert str(tmp_path) in str(raised.value)
    assert not (tmp_path / ".steadlith").exists()


def test_paths_that_differ_or_belong_to_a_store_without_files_are_fine(tmp_path):
    assert Assembly(load(tmp_path, f"{GOOD}[store]\npath = 'i.db'\n[cache]\npath = 'c.db'\n")).private_files
    assert Assembly(load(tmp_path, f"{GOOD}[store]\ntype = 'memory'\n[cache]\npath = '{INDEX}'\n")).private_files


def test_an_absent_or_unreadable_configuration_says_what_to_do(tmp_path):
    with pytest.raises(ConfigError, match="steadlith init"):
        config.load(tmp_path / "steadlith.toml")
    (tmp_path / "steadlith.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot read"):
        config.load(tmp_path / "steadlith.toml")


def test_init_writes_a_configuration_that_loads_and_says_what_it_chose(tmp_path):
    (tmp_path / "docs").mkdir()
    started = starter.start(tmp_path / "steadlith.toml", None, "hash", force=False)
    assert (started.folder, started.embedder, started.why) == ("docs", "hash", "you chose it")
    loaded = config.load(tmp_path / "steadlith.toml")
    assert loaded.sources["docs"].adapter.settings == {"path": "docs"}
    assert (tmp_path / ".steadlith" / ".gitignore").read_text("utf-8") == "*\n"
    with pytest.raises(UsageError, match="--force"):
        starter.start(tmp_path / "steadlith.toml", None, "hash", force=False)


@pytest.mark.parametrize(
    ("folder", "embedder", "part"), [("nowhere", "hash", "'nowhere' is not a folder"), (None, "gpt", "'gpt'")]
)
def test_init_refuses_what_cannot_work_and_writes_nothing(tmp_path, folder, embedder, part):
    with pytest.raises((UsageError, ConfigError), match=part):
        starter.start(tmp_path / "steadlith.toml", folder, embedder, force=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_quotes_in_its_name_survives_toml(tmp_path):
    name = 'we"ird \\ näme'
    (tmp_path / name).mkdir()
    starter.start(tmp_path / "steadlith.toml", name, "hash", force=False)
    assert config.load(tmp_path / "steadlith.toml").sources["docs"].adapter.settings == {"path": name}
