"""The benchmark's parts are imported from the folder above."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[0:0] = [str(HERE.parent.parent), str(HERE.parent.parent.parent / "tests" / "rig")]
