"""Draw the apply run's transitions into docs/apply.md; `--check` fails when the drawing is stale."""

import sys
from pathlib import Path

from steadlith_core.applying.states import TRANSITIONS, State

START, END = "<!-- states: begin -->", "<!-- states: end -->"
PAGE = Path(__file__).parent.parent / "docs" / "apply.md"


def diagram() -> str:
    """A Mermaid state diagram, one line a transition, in the table's order."""

    def name(state: State) -> str:
        return state.name.lower()

    lines = [f"    {name(before)} --> {name(after)}: {signal}" for (before, signal), after in TRANSITIONS.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> ready", *lines, "    ended --> [*]", "```"])


def main() -> None:
    page = PAGE.read_text("utf-8")
    before, rest = page.split(START)
    _, after = rest.split(END)
    drawn = f"{before}{START}\n{diagram()}\n{END}{after}"
    if "--check" in sys.argv:
        if drawn != page:
            sys.exit("docs/apply.md: the state diagram is stale; run scripts/state_diagram.py")
        print("docs/apply.md: the state diagram is current")
    else:
        PAGE.write_text(drawn, "utf-8")


if __name__ == "__main__":
    main()
