"""How attack/attack.c is run, by test_attack.py and by attack/campaign.py."""

import re
from pathlib import Path

from processes import HUNG_S

ATTACK = Path(__file__).parent / "attack" / "attack.c"


def run_attack(mpi, ranks, directory, *args, report=None, timeout=HUNG_S, preload=None, **env):
    """Returns the outcome, how many observations were made, and how many of them were impossible.

    Both counts are None if the program did not end well.
    """
    program = mpi.build(ATTACK, "-lrt", name="attack")
    env.setdefault("EVENKEEL_CLOCK", "free")  # its stalls read the clock
    options = {"env": env, "report": report, "timeout": timeout, "preload": preload}
    outcome = mpi.run(program, ranks, f"dir={directory}", *args, **options)
    found = re.search(r"RESULT rounds \d+ observations (\d+) wrong (\d+)", outcome.out)
    if not found or outcome.code != 0:
        return outcome, None, None
    return outcome, int(found[1]), int(found[2])


def deferred_share(outcome):
    barriers = outcome.operations("barrier")
    calls = sum(entry["calls"] for entry in barriers)
    return sum(entry["deferred"] for entry in barriers) / calls if calls else 0
