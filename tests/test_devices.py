"""Programs pass pointers to device memory, which only the MPI library and the driver can read.

programs/device_library.c stands in for both: what it calls device memory is closed to the processor except
inside the functions of MPI that it wraps, below evenkeel.
"""

import pytest

from verdicts import assert_passed

QUERIES = [
    "cuPointerGetAttribute",
    "cuPointerGetAttributes",
    "hipPointerGetAttribute",
    "hipPointerGetAttributes",
    "zeMemGetAllocProperties",
]


def run_with_devices(mpi, query, ranks=3, report=None, **env):
    flags = ["-shared", "-fPIC", f"-DDRIVER_QUERY={query}"]
    library = mpi.build("device_library.c", *flags, name=f"lib_{query}.so")
    program = mpi.build("device_buffers.c", "-ldl")
    return mpi.run(program, ranks, preload=[mpi.shim, library], env=env, report=report)


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("mode", ["strict", "auto", "deferred"])
def test_data_on_devices_are_left_to_the_library(mpi, mode, ranks, report):
    """Also where only one rank has its data on the device, or all but one."""
    outcome = run_with_devices(mpi, QUERIES[0], ranks, report, EVENKEEL_BARRIER=mode)
    assert_passed(outcome)
    assert "driver of an accelerator" in outcome.err, outcome.text
    barriers = outcome.operations("barrier")
    assert sum(entry["calls"] for entry in barriers) == 20 * ranks, "barriers are evenkeel's still"
    assert sum(entry["deferred"] for entry in barriers) == 0


@pytest.mark.parametrize("query", QUERIES[1:])
def test_every_driver_is_known(openmpi4, query):
    assert_passed(run_with_devices(openmpi4, query))


@pytest.mark.parametrize("mode", ["strict", "deferred"])
def test_without_the_driver_device_memory_is_read(openmpi4, mode):
    """The twin of the tests above: a driver whose functions have other names is not seen."""
    outcome = run_with_devices(openmpi4, "otherQuery", EVENKEEL_BARRIER=mode)
    assert outcome.code != 0, "the tests above would not notice that evenkeel reads device memory"
