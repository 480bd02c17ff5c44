"""The whole programs of bench/apps, which check their own results."""

import re

from paths import ROOT

SOURCES = ROOT / "bench" / "apps"


def build(mpi, app):
    return mpi.build(SOURCES / f"{app}.c", "-std=c11", "-Wall", "-Wextra", "-Werror", name=f"app-{app}")


def assert_right(outcome, ranks):
    """Fails unless the program ran on so many ranks and found its own result right. Returns the outcome."""
    found = re.findall(
        r"^RESULT (ok|wrong) app=(\w+) ranks=(\d+) (?:\S+=\S+ )*seconds=([\d.]+)$", outcome.out, re.MULTILINE
    )
    assert outcome.code == 0 and len(found) == 1, (
        f"exit code {outcome.code}\n{outcome.out[-2000:]}\n{outcome.err[-4000:]}"
    )
    assert found[0][0] == "ok" and int(found[0][2]) == ranks
    return outcome
