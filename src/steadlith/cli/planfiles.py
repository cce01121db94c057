"""Plan files on disk: `plan --out` writes them, `show` and `apply` read them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from steadlith_core.errors import PlanFileError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith_core.planning.plan import Plan

HINT = "`steadlith plan --out FILE` writes one"


def load(file: Path) -> Plan:
    """The plan in `file`. `PlanFileError` for anything that is not one."""
    from steadlith_core.planning import planfile

    try:
        return planfile.load(file.read_text("utf-8"))
    except OSError as error:
        raise PlanFileError(f"cannot read plan file {file}: {error.strerror or error}; {HINT}") from error
    except UnicodeDecodeError as error:
        raise PlanFileError(f"{file}: not a plan file: not UTF-8 (byte {error.start}); {HINT}") from error
    except RecursionError:
        raise PlanFileError(f"{file}: not a plan file: nested too deeply; {HINT}") from None
    except PlanFileError as error:
        raise PlanFileError(f"{file}: {error}; {HINT}") from error


def written(file: Path, plan: Plan) -> str:
    """What to say of a plan that was written to `file`: what it is good for."""
    if plan.preview:
        return f"Preview written to {file}: it can be shown, not applied"
    if plan.is_empty:
        return f"Plan written to {file}: nothing to apply"
    return f"Plan written to {file}; apply exactly this with: steadlith apply {file}"


def write(file: Path, content: str, option: str = "--out") -> None:
    """Replace `file`, or what it links to, whole or not at all; a device or a pipe is written into instead.

    `option` is how the file was named.
    """
    if not file.name:
        raise UsageError(f"{option} {str(file)!r}: expected the name of a file")
    try:
        if file.exists() and not file.is_file():
            file.write_text(content, "utf-8")
        else:
            target = file.resolve()
            if target.is_symlink():  # from Python 3.13 on, resolve says nothing of a link that leads to itself
                raise UsageError(f"{option} {file}: a link that leads to itself")
            _replace(target, content)
    except OSError as error:
        raise UsageError(f"{option} {file}: {error.strerror or error}") from error
    except RuntimeError as error:  # Path.resolve, before Python 3.13, of a link that leads to itself
        raise UsageError(f"{option} {file}: {error}") from error


def _replace(file: Path, content: str) -> None:
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as stream:
            stream.write(content)
        temporary.replace(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
