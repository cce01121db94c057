"""Measure `tokenizers`: any tokeniser that a `tokenizer.json` of Hugging Face describes (extra `tokenizers`).

1. The identity is the digest of the file; neither truncation nor padding that stands in it is used.
2. A document is encoded as a whole and without special tokens; a token counts where the text it was made from begins.
   What the tokeniser drops (white space, with many) weighs nothing.
3. The network is never asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadlith_adapters.settings import Table
from steadlith_adapters.tokenizers.counting import byte_offsets, units_before
from steadlith_adapters.tokenizers.reading import read
from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from steadlith_core.ports import Settings


class TokenizersMeasure:
    """Counts with one tokeniser."""

    def __init__(self, tokenizer: Tokenizer, id: str) -> None:  # noqa: A002
        self._tokenizer = tokenizer
        self._id = id

    @property
    def id(self) -> str:
        """The digest of the file."""
        return self._id

    def cumulative(self, data: bytes) -> NDArray[np.int64]:
        """Units of 1/32 token before every byte."""
        text = data.decode()
        found = self._tokenizer.encode(text, add_special_tokens=False).offsets if text else []
        starts = np.array([start for start, _ in found], dtype=np.int64)
        if len(data) > len(text):
            starts = np.append(byte_offsets(data), len(data))[starts]
        # A token that stands for no text, such as a word mark put at the end, counts with the last byte.
        return units_before(np.minimum(starts, max(len(data) - 1, 0)), len(data))


class TokenizersFactory:
    """Makes measures from files."""

    def build(self, settings: Settings, *, root: str) -> TokenizersMeasure:
        """The tokeniser that `file` holds."""
        table = Table("tokenizer 'tokenizers'", settings)
        table.only("file")
        vocabulary = read(table, root)
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ConfigError(
                "tokenizer 'tokenizers' needs the package 'tokenizers', which is not installed: "
                "pip install 'steadlith[tokenizers]', or leave the setting out: sizes are estimated then"
            ) from error
        try:
            tokenizer = Tokenizer.from_buffer(vocabulary.data)
        except Exception as error:  # the library raises bare exceptions
            raise table.wrong("file", table.values["file"], f"a tokenizer.json ({error})") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return TokenizersMeasure(tokenizer, f"tokenizers:{vocabulary.digest}")


FACTORY = TokenizersFactory()
