"""`steadlith measure churn` as a user types it."""

import json
import subprocess
from xml.etree import ElementTree as ET

import pytest

from steadlith.report.plot import Point, bytes_text, scatter

SVG = "{http://www.w3.org/2000/svg}"
TINY = {
    "1": {"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n"},
    "2": {"a.md": "# A\n\nThree.\n", "b.md": "# B\n\nTwo.\n"},
    "3": {"a.md": "# A\n\nThree.\n", "c.md": "# B\n\nTwo.\n"},
}


@pytest.fixture
def versions(tmp_path):
    """Three snapshots: an edit that costs eleven bytes, a rename that costs nothing."""
    for name, files in TINY.items():
        folder = tmp_path / "versions" / name
        folder.mkdir(parents=True)
        for path, content in files.items():
            (folder / path).write_text(content, "utf-8")
    return tmp_path / "versions"


def document(ran):
    value = json.loads(ran.out)
    assert (ran.code, value["kind"], value["format_version"]) == (0, "steadlith-churn", "1.0")
    assert ran.out.count("\n") == 1
    return value


def test_the_table_has_the_figures_counted_by_hand(cli, versions):
    ran = cli("measure", "churn", "--history", "versions")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "1 to 3: 2 snapshots after the first, 1 with new text"
    assert lines[1] == (
        "3 versions of documents, 1 of them after the first snapshot (12 bytes); 2 documents at the end"
    )
    rows = {line.split()[1]: line.split()[2:] for line in lines if line.startswith("structural")}
    assert rows.keys() == {"128-384", "160-480", "256-640"}
    for mean, _tokens, largest, _, chunks, embedded, _, texts, edit, share in rows.values():
        assert (mean, largest, chunks) == ("9", "11", "2")
        assert (embedded, texts, edit, share) == ("11", "1", "11", "91.7%")
    assert "Cost unknown: no price was given (--price-per-million)." in lines


def test_json_has_a_stable_shape(cli, versions):
    found = document(cli("measure", "churn", "--history", "versions", "--sizes", "128-384", "--json"))
    assert found.keys() == {"format_version", "kind", "history", "price", "policies", "findings"}
    assert found["history"] == {
        "first": "1",
        "last": "3",
        "snapshots_after_first": 2,
        "edits": 1,
        "documents": 2,
        "versions": 3,
        "changed_versions": 1,
        "changed_bytes": 12,
    }
    assert (found["price"], found["findings"]) == (None, [])
    (policy,) = found["policies"]
    first, later = policy.pop("first"), policy.pop("later")
    assert (first.pop("tokens") > 0, later.pop("tokens") > 0) == (True, True)
    assert first == {"chunks": 2, "bytes": 18, "cost": None}
    assert later == {"chunks": 1, "bytes": 11, "cost": None}
    assert policy.keys() == {"policy", "label", "id", "params", "mean", "largest", "per_edit", "share"}
    assert (policy["policy"], policy["label"]) == ("structural", "structural 128-384")
    assert policy["mean"].keys() == policy["largest"].keys() == policy["per_edit"].keys() == {"bytes", "tokens"}
    assert (policy["mean"]["bytes"], policy["largest"]["bytes"], policy["per_edit"]["bytes"]) == (9.0, 11, 11.0)
    assert policy["share"] == 0.9167


def test_a_price_makes_costs_of_tokens_and_none_stays_unknown(cli, versions):
    options = ("--price-per-million", "1000", "--currency", "EUR")
    found = document(cli("measure", "churn", "--history", "versions", "--json", *options))
    assert found["price"] == {"per_million": "1000", "currency": "EUR"}
    for policy in found["policies"]:
        for part in ("first", "later"):
            assert policy[part]["cost"] == f"{policy[part]['tokens'] / 1000:.6f}"
    out = cli("measure", "churn", "--history", "versions", *options).out
    assert "Cost in EUR, at 1000 for a million tokens; tokens are estimates." in out
    assert found["policies"][0]["later"]["cost"] in out


def test_what_was_measured_last_is_measured_the_same_again(cli, versions):
    arguments = ("measure", "churn", "--history", "versions", "--plot", "churn.svg")
    first = cli(*arguments).out
    drawn = (versions.parent / "churn.svg").read_bytes()
    assert cli(*arguments).out == first
    assert (versions.parent / "churn.svg").read_bytes() == drawn


def labels(ran):
    return [policy["label"] for policy in document(ran)["policies"]]


def test_each_policy_takes_of_the_sizes_what_it_has(cli, versions):
    arguments = ("measure", "churn", "--history", "versions", "--json")
    assert labels(cli(*arguments, "--policy", "fixed", "--policy", "structural", "--sizes", "100-300,16-64")) == [
        *("fixed", "structural 100-300", "structural 16-64"),
    ]
    assert labels(cli(*arguments, "--set", "max_tokens=600", "--sizes", "100-300,16-64")) == [
        *("structural 100-600", "structural 16-600"),
    ]


def test_a_setting_may_be_for_one_policy_alone(cli, versions):
    policies = (
        "--policy",
        "fixed",
        "--policy",
        "late",
        "--set",
        "fixed.max_words=7",
        "--set",
        "late.child_max_words=5",
    )
    fixed, late = document(cli("measure", "churn", "--history", "versions", "--json", *policies))["policies"]
    assert (fixed["params"]["max_words"], late["params"]["child_max_words"]) == (7, 5)
    ran = cli("measure", "churn", "--history", "versions", "--policy", "fixed", "--set", "colour=red")
    assert ran.code == 1
    assert "colour" in ran.err


def test_the_configurations_policy_and_price_are_used_where_there_is_one(cli, folder, versions):
    config = folder / "steadlith.toml"
    content = config.read_text("utf-8").replace("max_tokens = 480", "max_tokens = 500")
    price = 'embedder = "hash"\nprice_per_million_tokens = 2\nprice_currency = "EUR"'
    config.write_text(content.replace('embedder = "hash"', price), "utf-8")
    arguments = ("measure", "churn", "--history", "versions", "--json", "--sizes", "16-64")
    found = document(cli(*arguments))
    assert [policy["label"] for policy in found["policies"]] == ["structural 160-500", "structural 16-64"]
    assert found["price"] == {"per_million": "2", "currency": "EUR"}
    named = document(cli(*arguments, "--policy", "structural"))
    assert ([policy["label"] for policy in named["policies"]], named["price"]) == (["structural 16-64"], None)


def test_a_git_repository_is_replayed_commit_by_commit(cli, tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path / "repo", check=True, capture_output=True)

    (tmp_path / "repo" / "docs").mkdir(parents=True)
    git("init", "-q")
    for text in ("One.\n", "Two.\n", "Three.\n"):
        (tmp_path / "repo" / "docs" / "a.md").write_text(text, "utf-8")
        git("add", "-A")
        git("commit", "-q", "-m", "change")
    arguments = ("measure", "churn", "--history", "repo", "--json")
    assert document(cli(*arguments))["history"]["edits"] == 2
    assert document(cli(*arguments, "--path", "docs/", "--commits", "1"))["history"]["edits"] == 1
    assert document(cli(*arguments, "--since", "HEAD~1"))["history"]["edits"] == 1
    assert cli(*arguments, "--since", "nowhere").code == 64


def test_findings_are_listed_and_passed_over(cli, versions):
    (versions / "2" / "bad\x1b.md").write_bytes(b"\xff")
    (versions / "3" / "bin.md").write_bytes(b"\0")
    ran = cli("measure", "churn", "--history", "versions")
    assert ran.code == 0
    assert "Findings (2), those versions were passed over:" in ran.out
    assert "! 2:bad\\x1b.md: undecodable: not UTF-8 at byte offset 0 (0xff)" in ran.out
    assert "\x1b" not in ran.out
    found = document(cli("measure", "churn", "--history", "versions", "--json"))["findings"]
    assert [(each["place"], each["kind"]) for each in found] == [
        ("2:bad\x1b.md", "undecodable"),
        ("3:bin.md", "binary"),
    ]


def test_a_history_without_documents_is_an_error(cli, tmp_path):
    (tmp_path / "versions" / "1").mkdir(parents=True)
    (tmp_path / "versions" / "1" / "a.png").write_bytes(b"\x89PNG")
    ran = cli("measure", "churn", "--history", "versions")
    assert (ran.code, ran.err) == (1, "Error: no document with text in 1 snapshot: nothing to measure\n")
    assert json.loads(cli("measure", "churn", "--history", "versions", "--json").out)["error"] == "SourceError"
    assert cli("measure", "churn", "--history", "nowhere").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "12"], "expected pairs"),
        (["--sizes", "a-b"], "expected pairs"),
        (["--commits", "0"], "--commits"),
        (["--commits", "1", "--since", "HEAD"], "pass one of them"),
        (["--since", "HEAD"], "no git repository"),
        (["--path", "../x"], "a folder inside the history"),
        (["--path", "/x"], "a folder inside the history"),
        (["--price-per-million", "-1"], "from 0 up"),
        (["--price-per-million", "NaN"], "from 0 up"),
        (["--currency", "EUR"], "--price-per-million"),
        (["--plot", "p.png"], ".svg or .html"),
        (["--plot", "nowhere/p.svg"], "there is no folder nowhere"),
    ],
)
def test_a_wrong_call_exits_64_before_anything_is_replayed(cli, versions, arguments, message):
    ran = cli("measure", "churn", "--history", "versions", *arguments)
    assert ran.code == 64
    assert message in ran.err
    assert cli("measure", "churn").code == 64


def test_a_size_that_cannot_be_is_the_policys_error(cli, versions):
    ran = cli("measure", "churn", "--history", "versions", "--sizes", "300-400")
    assert ran.code == 1
    assert "max_tokens = 400" in ran.err


def test_a_long_replay_is_told_in_ten_lines(cli, tmp_path):
    for number in range(100):
        (tmp_path / "versions" / f"{number:03}").mkdir(parents=True)
        (tmp_path / "versions" / f"{number:03}" / "a.md").write_text(f"Text {number}.\n", "utf-8")
    lines = cli("measure", "churn", "--history", "versions", "--sizes", "16-64").err.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (
        *(10, "Replayed 10 of 100 snapshots"),
        "Replayed 100 of 100 snapshots",
    )


def test_the_plot_is_well_formed_says_what_it_shows_and_loads_nothing(cli, versions):
    ran = cli("measure", "churn", "--history", "versions", "--plot", "churn.svg")
    assert (ran.code, ran.err) == (0, "Plot written to churn.svg\n")
    text = (versions.parent / "churn.svg").read_text("utf-8")
    root = ET.fromstring(text)
    assert (root.tag, root.get("role"), root.get("aria-labelledby")) == (f"{SVG}svg", "img", "plot-title plot-desc")
    assert root.findtext(f"{SVG}title") == "What edits cost, by chunk size"
    assert "structural 160-480: chunks of 9 bytes on average, 11 bytes embedded" in root.findtext(f"{SVG}desc")
    assert len(root.findall(f"{SVG}g")) == 3
    assert "prefers-color-scheme:dark" in text
    for foreign in ("<script", "href", "url(", "@import", "@font-face"):
        assert foreign not in text


def test_the_page_holds_the_plot_and_the_table(cli, versions):
    assert cli("measure", "churn", "--history", "versions", "--plot", "churn.HTML").code == 0
    text = (versions.parent / "churn.HTML").read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert text.count("<svg") == 1
    assert "<td>structural 160-480</td><td>9</td>" in text
    for foreign in ("<script", "href", "url(", "@import", "src="):
        assert foreign not in text


def points(*values, series="s"):
    return [Point(x, y, f"label {x}", "note", series, "words") for x, y in values]


@pytest.mark.parametrize(
    "values",
    [
        [(9.0, 0)],
        [(9.0, 0), (9.0, 0)],
        [(1, 1), (2, 2), (3, 3)],
        [(0.5, 10**12), (10**7, 3)],
        [(100, 5)] * 30,
        [(941.3, 1_494_436), (1155.1, 1_870_211), (1475.0, 2_241_761)],
    ],
)
def test_every_point_and_every_tick_lies_in_the_picture(values):
    root = ET.fromstring(scatter("t", "s", ("x", "y"), points(*values)))
    circles = root.findall(f"{SVG}g/{SVG}circle")
    assert len(circles) == len(values)
    for circle in circles:
        assert 72 <= float(circle.get("cx")) <= 800
        assert 108 <= float(circle.get("cy")) <= 454
    ticks = [each for each in root.findall(f"{SVG}line") if each.get("class") == "axis"]
    assert 2 <= len(ticks) <= 10


def test_labels_keep_out_of_each_others_way():
    close = points((100, 50), (101, 50), (300, 90))
    texts = ET.fromstring(scatter("t", "s", ("x", "y"), close)).iter(f"{SVG}text")
    places = [(each.get("x"), each.get("y")) for each in texts if each.get("class") == "label"]
    assert len(set(places)) == 3


def test_names_are_escaped_in_a_plot():
    (point,) = points((1, 1))
    evil = Point(point.x, point.y, "<b>&\x1b", 'a"b', "</style>", "<script>")
    text = scatter("<i>", "\x00", ("x", "y"), [evil])
    ET.fromstring(text)
    assert "<script" not in text
    assert "\\x1b" in text


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.00 kB"),
        (63_949, "63.9 kB"),
        (1_870_211, "1.87 MB"),
        (10**12, "1000 GB"),
    ],
)
def test_sizes_are_shown_with_three_figures(size, shown):
    assert bytes_text(size) == shown
