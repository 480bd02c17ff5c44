"""Every collective gives the right result, and the same bits as the host library.

programs/matrix.c goes through operation, datatype, operator, root, size class and form. Its oracle is serial.
"""

import pytest

from verdicts import assert_passed

RANKS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16]
OPERATIONS = {
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
}


def combinations(mpi, ranks):
    """How many of the combinations to try: more where the library starts and ends quickly."""
    most = {"openmpi4": 12000, "mpich5": 6000}.get(mpi.name, 3000)
    if ranks <= 4:
        return most
    return most // 2 if ranks < 16 else most // 6


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", RANKS)
def test_every_combination_is_right(mpi, ranks, report):
    count = combinations(mpi, ranks)
    program = mpi.build("matrix.c")
    outcome = mpi.run(program, ranks, f"n={count}", f"seed={ranks}", report=report)
    assert_passed(outcome)
    if ranks > 1:
        # evenkeel carried the calls out; only large nonblocking ones are left to the host library.
        entries = outcome.operations()
        ours, hosts = sum(e["calls"] for e in entries), sum(e["host_calls"] for e in entries)
        assert ours > 20 * hosts, f"evenkeel carried out {ours} calls, the host library {hosts}"
        assert {e["op"].removeprefix("i") for e in entries if e["calls"]} >= OPERATIONS


@pytest.mark.parametrize(
    "options",
    [
        {"EVENKEEL_WAIT": "spin"},
        {"EVENKEEL_WAIT": "yield"},
        {"EVENKEEL_WAIT": "spin-block"},
        {"EVENKEEL_WAIT": "block"},
        {"EVENKEEL_CMA": "off"},
        {"EVENKEEL_PLACE": "none"},
        {"EVENKEEL_RECORD": "0"},
    ],
    ids=lambda o: "-".join(f"{k}={v}" for k, v in o.items()).replace("EVENKEEL_", "").lower(),
)
def test_options_do_not_change_results(openmpi4, options):
    count = 300 if options.get("EVENKEEL_WAIT") == "spin" else 4000
    # Where processes may not read each other's memory, the host library carries out the operations with
    # varying counts, and Open MPI's Ialltoallv in place is wrong.
    plain = int(options.get("EVENKEEL_CMA") == "off")
    args = [f"n={count}", "seed=77", f"plain={plain}"]
    assert_passed(openmpi4.run(openmpi4.build("matrix.c"), 4, *args, env=options))


def test_results_are_right_in_every_order_of_arrival(mpi):
    """Ranks stall at random."""
    assert_passed(mpi.run(mpi.build("matrix.c"), 4, "n=800", "seed=5", "stall=4"))


def test_results_equal_those_of_the_host_library_bit_for_bit(mpi):
    """The same calls with and without evenkeel give one digest over every byte of every result."""
    program, args = mpi.build("matrix.c"), ["n=1500", "seed=3", "plain=1"]
    ours = assert_passed(mpi.run(program, 3, *args))
    # The MPI_Reduce that Intel MPI 2021.18 chooses on Intel processors crashes, without evenkeel too.
    algorithm = {"I_MPI_ADJUST_REDUCE": "1"} if mpi.name == "impi" else {}
    hosts = assert_passed(mpi.run(program, 3, *args, env={"EVENKEEL_OFF": "1"} | algorithm))
    assert ours == hosts


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_sums_of_fractions_have_the_same_bits_in_every_run(mpi, ranks):
    """The bits are also the same in every repetition, on every rank, and in every kind of waiting."""
    program, args = mpi.build("float_sums.c"), ["n=40", f"seed={ranks}"]
    runs = [mpi.run(program, ranks, *args, env=env) for env in ({}, {"EVENKEEL_WAIT": "block"})]
    assert len({assert_passed(run) for run in runs}) == 1
    args.append("blocking=1")
    runs = [mpi.run(program, ranks, *args, env=env) for env in ({}, {"EVENKEEL_CMA": "off"})]
    assert len({assert_passed(run) for run in runs}) == 1
