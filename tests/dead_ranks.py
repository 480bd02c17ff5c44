"""Runs in which a rank kills itself and evenkeel, not the launcher, ends the job."""

import re

from mpis import KEEP_JOB_AFTER_DEATH


def run_until_a_rank_dies(mpi, *args, env=None):
    """Runs killed_rank.c. Prints the exit codes of its ranks: that of the launcher says nothing here."""
    program = ["sh", "-c", '"$@"; echo "status $?"', "sh", mpi.build("killed_rank.c")]
    extra = KEEP_JOB_AFTER_DEATH[mpi.family]
    return mpi.run(program, 4, *args, extra=extra, env=env)


def assert_dead_rank_is_named(outcome, rank):
    pid = re.search(r"victim (\d+)", outcome.err).group(1)
    assert outcome.code is not None, f"some process hung\n{outcome.text}"
    statuses = sorted(re.findall(r"status (\d+)", outcome.out))
    assert statuses == ["137", "71", "71", "71"], outcome.text
    assert len(outcome.said) == 1, f"one rank says it, once: {outcome.said}\n{outcome.err}"
    assert re.search(rf"rank {rank}\b.*\b{pid}\b", outcome.said[0]), outcome.said[0]
