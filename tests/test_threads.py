"""Threads of one rank may call MPI at once (MPI_THREAD_MULTIPLE)."""

import pytest

from verdicts import assert_passed


@pytest.mark.parametrize("ranks, threads", [(2, 4), (3, 3)])
def test_threads_call_collectives_at_once(mpi, ranks, threads):
    if mpi.family == "mpich" and ranks > 2:
        pytest.skip("default MPICH spins for milliseconds at every message when ranks outnumber cores")
    outcome = mpi.run(mpi.build("threads.c"), ranks, f"threads={threads}", "rounds=100", timeout=120)
    if "NO THREADS" in outcome.out:
        pytest.skip(f"{mpi.name} grants no MPI_THREAD_MULTIPLE")
    assert_passed(outcome)
