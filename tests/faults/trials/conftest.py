"""Makes this folder importable as `trials`, for these tests and for the processes that they start."""

import sys
from pathlib import Path

FOLDER = str(Path(__file__).parent.parent)
if FOLDER not in sys.path:
    sys.path.append(FOLDER)
