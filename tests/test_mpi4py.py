"""mpi4py's own test suite: what passes without evenkeel passes with it.

`make test` runs the modules about collectives, communicators, requests and operators. With
EVENKEEL_TEST_MPI4PY=all (`make test-mpi4py`) the whole suite runs.
"""

import os

import pytest

import mpi4py_suite

MODULES = [
    "test_cco_buf",
    "test_cco_buf_inter",
    "test_cco_nb_buf",
    "test_cco_nb_vec",
    "test_cco_ngh_buf",
    "test_cco_obj",
    "test_cco_pr_buf",
    "test_cco_vec",
    "test_comm",
    "test_comm_topo",
    "test_grequest",
    "test_request",
    "test_op",
    "test_attributes",
    "test_ulfm",
]


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_what_passes_without_evenkeel_passes_with_it(mpi, ranks, report):
    if not mpi.python:
        pytest.skip(f"there is no mpi4py for {mpi.name} here")
    everything = os.environ.get("EVENKEEL_TEST_MPI4PY") == "all"
    if not everything and ranks != 2:
        pytest.skip("2 ranks; the others with EVENKEEL_TEST_MPI4PY=all")
    modules = mpi4py_suite.all_modules() if everything else MODULES
    comparison = mpi4py_suite.compare(mpi, mpi, ranks, modules, report, always=everything)
    comparison.assert_nothing_lost()
    if ranks > 1:
        assert comparison.outcome.calls("allreduce") > 100, "evenkeel carried nothing out"
