"""The golden vectors as questions: what the second implementation answers, which knows docs/format.md alone."""

import struct
from contextlib import suppress

import pytest
from second import cachefiles, identities, trees, values

from steadlith_conformance.formats import FormatSuite
from steadlith_conformance.questions import untagged


class Second:
    """One method a question."""

    def encode(self, given):
        return values.encode(untagged(given["value"])).hex()

    def hash_fields(self, given):
        return identities.printed(identities.of_fields(given["kind"], *map(untagged, given["fields"])))

    def hash_bytes(self, given):
        data = bytes.fromhex(given["data"])
        return identities.printed(identities.of_bytes(given["kind"], data, given["constants"]))

    def document_key(self, given):
        return identities.printed(trees.document_key(given["source"], given["path"]))

    def context_hash(self, given):
        return identities.printed(identities.context_hash(given["template"], given["fields"]))

    def leaves_root(self, given):
        leaves = [trees.leaf(bytes.fromhex(each.removeprefix("b3:"))) for each in given["leaves"]]
        return identities.printed(trees.leaves_root(leaves))

    def read_cachefile(self, given):
        return [
            {"key": identities.printed(key), "vector": struct.pack(f"<{len(numbers)}f", *numbers).hex()}
            for key, numbers in cachefiles.read(bytes.fromhex(given["file"]))
        ]


class TestSecond(FormatSuite):
    answers = frozenset(name for name in vars(Second) if not name.startswith("_"))

    @pytest.fixture
    def answer(self):
        def answer(question, given):
            with suppress(cachefiles.Bad):
                return getattr(Second(), question)(given)

        return answer
