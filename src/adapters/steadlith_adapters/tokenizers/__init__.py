"""Exact tokenisers as measures: `tokenizers` and `tiktoken`, each from a file that is on this machine."""
