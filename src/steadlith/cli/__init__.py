"""The command line. `main` is the console script; heavy imports wait until a command needs them."""

from steadlith.cli.main import main

__all__ = ["main"]
