"""Whole programs (bench/apps) give the right result with evenkeel and without, on any number of ranks.

All numbers of ranks run under one library, an odd number under all of them.
"""

import pytest

import processes
from apps import assert_right, build

pytestmark = pytest.mark.in_turn

RANKS = [1, 2, 3, 4, 5, 8]

# Name of the run to its parameters. Problems are small, and such that ranks get different shares.
RUNS = {
    "barrier": ["count=300", "spin=200", "check=10"],
    "barrier-random": ["mode=loop", "count=300", "spin=200", "random=yes", "check=10"],
    "scan-naive": ["algorithm=naive", "n=203", "repeat=2"],
    "scan-optimized": ["algorithm=optimized", "n=5003", "repeat=3"],
    "radix-flat-smart": ["n=2003", "key_bits=6", "tree=flat", "exchange=smart", "packet=500"],
    "radix-library-naive": ["n=2003", "key_bits=7", "bits=3", "tree=library", "exchange=naive"],
    "cholesky": ["n=61"],
    "mg": ["grid=8", "iterations=2"],
}

# Changes one bit or one value in a message or a sum, so that every program's own check can be seen to fail.
WRONG_MESSAGES = """
#include <mpi.h>
#include <string.h>
int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s)
{
    int code = PMPI_Recv(b, n, t, from, tag, c, s);
    static int calls;
    if (++calls == 3)
        ((char *)b)[n > 8 ? 8 : 0] ^= 1;
    return code;
}
int MPI_Reduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c)
{
    int code = PMPI_Reduce(in, out, n, t, op, root, c), rank;
    static int calls;
    PMPI_Comm_rank(c, &rank);
    if (++calls > 5 && rank == root && t == MPI_DOUBLE)
        ((double *)out)[0] += 1;
    return code;
}
int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
    static int calls;
    int code = PMPI_Irecv(b, n, t, from, tag, c, r);
    if (++calls == 6) { /* the third halo's upper plane: a lower one is not always looked at */
        PMPI_Wait(r, MPI_STATUS_IGNORE);
        for (int i = 0; i < n / 8; i++)
            ((double *)b)[i] += 0.01;
    }
    return code;
}
"""


def run(mpi, name, ranks, shim, *more, report=None):
    app = name.split("-")[0]
    return mpi.run(build(mpi, app), ranks, *RUNS[name], *more, shim=shim, report=report)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", RUNS)
def test_the_answer_is_right(openmpi4, name, ranks):
    assert_right(run(openmpi4, name, ranks, True), ranks)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ["barrier", "scan-naive", "radix-library-naive", "cholesky", "mg"])
def test_the_answer_is_right_without_evenkeel(openmpi4, name, ranks):
    assert_right(run(openmpi4, name, ranks, False), ranks)


@pytest.mark.parametrize("name", ["barrier", "radix-flat-smart", "mg"])
def test_the_answer_is_right_under_every_library(mpi, name, report):
    """The report proves that evenkeel carried the collectives out."""
    outcome = assert_right(run(mpi, name, 3, True, report=report), 3)
    assert outcome.calls("barrier") > 0


def test_what_was_written_to_a_file_before_a_barrier_is_read_after_it(openmpi4, tmp_path):
    through_file = ["through=file", f"file={tmp_path / 'number'}", "check=50"]
    assert_right(run(openmpi4, "barrier", 4, True, *through_file), 4)


def test_a_barrier_that_does_nothing_is_noticed(openmpi4, tmp_path):
    """This shows that the check of the barrier program can fail."""
    source = tmp_path / "none.c"
    source.write_text("int MPI_Barrier(void *c) { (void)c; return 0; }\n")
    none = openmpi4.build(source, "-shared", "-fPIC", name="app-no-barrier.so")
    outcome = openmpi4.run(build(openmpi4, "barrier"), 3, "count=10", "check=50", preload=[none])
    assert outcome.code == 1 and "RESULT wrong app=barrier" in outcome.out, outcome.text


@pytest.mark.parametrize("name", ["scan-naive", "radix-library-naive", "cholesky", "mg"])
def test_a_wrong_message_is_noticed(openmpi4, tmp_path, name):
    source = tmp_path / "flip.c"
    source.write_text(WRONG_MESSAGES)
    flip = openmpi4.build(source, "-shared", "-fPIC", name="app-flip.so")
    app = name.split("-")[0]
    outcome = openmpi4.run(build(openmpi4, app), 2, *RUNS[name], preload=[flip])
    assert outcome.code == 1, outcome.text


@pytest.mark.parametrize("app", ["barrier", "scan", "radix", "cholesky", "mg"])
def test_parameters_are_listed_and_wrong_ones_are_refused(openmpi4, app):
    """A wrong parameter is refused before MPI starts."""
    program = str(build(openmpi4, app))
    helped = processes.run([program, "--help"])
    assert helped.code == 0 and "mpirun -n RANKS" in helped.out
    for wrong in ["nonsense", "n=many" if app != "barrier" else "mode=fast", "colour=red"]:
        refused = processes.run([program, wrong])
        assert refused.code == 2 and app in refused.err, refused.text
