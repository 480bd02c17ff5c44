"""Runs the command line program where no MPI takes part."""

import subprocess

from paths import EVENKEEL
from processes import HUNG_S


def evenkeel(*arguments, code=0):
    """Standard output of `evenkeel` with these arguments; fails the test if it exits with another code."""
    done = subprocess.run(
        [EVENKEEL, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HUNG_S,
        check=False,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout
