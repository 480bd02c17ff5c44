"""Every operation x datatype x operator x root x size class x form, on 1 to 9 and 16 ranks, against a serial oracle
and against the host library."""

import re

import pytest

RANKS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16]


def result(outcome):
    found = re.search(r"RESULT checks (\d+) failures (\d+) digest (\w+)", outcome.out)
    assert outcome.code == 0 and found, (
        f"exit code {outcome.code}\n{outcome.out[-2000:]}\n{outcome.err[-4000:]}"
    )
    checks, failures, digest = found.groups()
    assert int(checks) > 0 and failures == "0", outcome.err
    return digest


def combinations(mpi, ranks):
    """How many of the combinations: many where the library's own start-up and shutdown are cheap."""
    most = {"openmpi4": 12000, "mpich5": 6000}.get(mpi.name, 3000)
    return most if ranks <= 4 else most // 2 if ranks < 16 else most // 6


@pytest.mark.parametrize("ranks", RANKS)
def test_matrix(mpi, ranks, report):
    outcome = mpi.run(
        mpi.build("matrix.c"),
        ranks,
        f"n={combinations(mpi, ranks)}",
        f"seed={ranks}",
        report=report,
        timeout=120,
    )
    result(outcome)
    if ranks > 1:  # evenkeel did it, not the host: everything but large nonblocking calls
        ops = [o for rank in outcome.record()["ranks"] for c in rank["comms"] for o in c["ops"]]
        ours, hosts = sum(o["calls"] for o in ops), sum(o["host_calls"] for o in ops)
        assert ours > 20 * hosts, f"evenkeel carried out {ours} calls, the host library {hosts}"
        assert {o["op"].removeprefix("i") for o in ops if o["calls"]} >= {
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


@pytest.mark.parametrize(
    "options",
    [
        {"EVENKEEL_WAIT": "spin"},
        {"EVENKEEL_WAIT": "yield"},
        {"EVENKEEL_WAIT": "block"},
        {"EVENKEEL_CMA": "off"},
        {"EVENKEEL_PLACE": "none"},
        {"EVENKEEL_RECORD": "0"},
    ],
    ids=lambda o: "-".join(f"{k}={v}" for k, v in o.items()).replace("EVENKEEL_", "").lower(),
)
def test_matrix_whatever_the_options(openmpi4, options):
    n = 300 if options.get("EVENKEEL_WAIT") == "spin" else 4000
    # Without direct reads the operations with varying counts are the host's, whose Ialltoallv in place is
    # wrong.
    plain = int(options.get("EVENKEEL_CMA") == "off")
    result(
        openmpi4.run(
            openmpi4.build("matrix.c"), 4, f"n={n}", "seed=77", f"plain={plain}", env=options, timeout=120
        )
    )


def test_matrix_with_stalls(mpi):
    """Ranks that stall at random arrive in every order."""
    result(mpi.run(mpi.build("matrix.c"), 4, "n=800", "seed=5", "stall=4", timeout=120))


def test_same_bits_as_the_host(mpi):
    """The same calls with and without evenkeel: one digest over every byte of every result."""
    program, args = mpi.build("matrix.c"), ["n=1500", "seed=3", "plain=1"]
    ours = result(mpi.run(program, 3, *args, timeout=120))
    theirs = result(mpi.run(program, 3, *args, env={"EVENKEEL_OFF": "1"}, timeout=120))
    assert ours == theirs


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_floating_point_is_reproducible(mpi, ranks):
    """Sums of random numbers: the same bits in every repetition, on every rank, in every run, however ranks wait."""
    program = mpi.build("float_sums.c")
    environments = [{}, {"EVENKEEL_WAIT": "block"}, {"EVENKEEL_CMA": "off"}]
    digests = {
        result(mpi.run(program, ranks, "n=40", f"seed={ranks}", env=e, timeout=120)) for e in environments
    }
    assert len(digests) == 1
