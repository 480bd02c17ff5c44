"""The parts of the benchmarks are imported from the folder above, the rig from tests/rig."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[0:0] = [str(HERE.parent.parent), str(HERE.parent.parent.parent / "tests" / "rig")]
