"""Where the tests find the sources, and what was built from them."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Sources of the C, C++ and Fortran programs that the tests run.
PROGRAMS = ROOT / "tests" / "programs"
# What `make build` leaves.
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
SHIMS = Path(os.environ.get("EVENKEEL_LIB", RELEASE / "lib" / "evenkeel"))
EVENKEEL = RELEASE / "evenkeel"
# Where the test programs are compiled to, in a folder per MPI library.
BUILD = ROOT / "build" / "tests"
