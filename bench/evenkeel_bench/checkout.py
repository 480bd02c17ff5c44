"""Where things are in this checkout."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"  # the wheels' environments, and compiled programs
BOOK = ROOT / "docs" / "src"
# What cargo and the build of the shims have made.
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
SHIMS = RELEASE / "lib" / "evenkeel"
EVENKEEL = Path(os.environ.get("EVENKEEL", RELEASE / "evenkeel"))
