"""Plan files on disk: `plan --out` writes them, `show` and `apply` read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith import files
from steadlith_core.errors import PlanFileError

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


def save(file: Path, plan: Plan) -> None:
    """Write the plan, so that `load` reads it."""
    from steadlith_core.planning import planfile

    write(file, planfile.dump(plan))


def written(file: Path, plan: Plan) -> str:
    """What to say of a plan that was written to `file`: what it is good for."""
    if plan.preview:
        return f"Preview written to {file}: it can be shown, not applied"
    if plan.is_empty:
        return f"Plan written to {file}: nothing to apply"
    return f"Plan written to {file}; apply exactly this with: steadlith apply {file}"


def write(file: Path, content: str, option: str = "--out") -> None:
    """Replace `file`, or what it links to, whole or not at all. `option` is how the file was named."""
    files.save(file, [content.encode("utf-8")], option)
