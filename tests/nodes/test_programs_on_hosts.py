"""Unmodified programs on four hosts under each launcher.

Results are right, evenkeel carries out the collectives within each host, and nothing is left behind.
"""

import re

import pytest

from on_hosts import assert_passed, read_report, run, shim
from paths import ROOT
from processes import operations


def test_evenkeel_carries_out_collectives_within_a_host(clean, mpi):
    """The library carries out those between hosts. All results are right."""
    if mpi.name == "mpich4":
        pytest.skip(
            "MPICH 4.0.2 spins; on hosts that share cores half of its runs hang in MPI_Finalize, "
            "also without evenkeel"
        )
    program = [mpi.build("several_hosts.c"), "rounds=100"]
    done = run(clean, mpi, program, shim(mpi, EVENKEEL_REPORT="/tmp/run.json"))
    assert_passed(done)
    assert "HOSTS 4 RANKS 8" in done.stdout
    entries = operations(read_report(clean, "/tmp/run.json"), "allreduce")
    assert sum(entry["calls"] for entry in entries) >= 8 * 100, entries


def test_data_between_hosts_cross_the_network(clean, openmpi4):
    """Virtual hosts see each other's processes, and must not be taken for one machine."""
    program = [openmpi4.build(ROOT / "bench/src/traffic.c"), "--calls", "5"]
    done = run(clean, openmpi4, program, shim(openmpi4))
    copies = [float(number) for number in re.findall(r'"copies": ([0-9.]+)', done.stdout)]
    assert len(copies) == 2 and min(copies) > 0.9, done.stdout + done.stderr


def test_every_collective_is_right(clean, mpi):
    """Operations, types, roots and forms at random over all hosts, against a serial oracle."""
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("operations do not depend on the library's version; tested under Open MPI 4 and MPICH 5")
    plain = [] if mpi.family == "mpich" else ["plain=1"]
    assert_passed(run(clean, mpi, [mpi.build("matrix.c"), "n=200", "seed=5", *plain], shim(mpi)))


def test_barriers_within_a_host_may_be_deferred_while_others_span_hosts(clean, openmpi4):
    program = [openmpi4.build("several_hosts.c"), "rounds=200"]
    assert_passed(run(clean, openmpi4, program, shim(openmpi4, EVENKEEL_BARRIER="auto")))


def test_a_killed_rank_ends_the_job_on_all_hosts(clean, openmpi4):
    program = [openmpi4.build("killed_rank.c"), "victim=5"]
    done = run(clean, openmpi4, program, shim(openmpi4), timeout=40)
    assert done.returncode != 0
    assert re.search(r"rank 5\b", done.stderr), done.stderr


def test_other_hosts_do_not_get_an_environment_that_is_not_passed_on(rig, openmpi4):
    """The tests above therefore cannot pass by a shim's environment that leaks to the other hosts."""
    done = rig[0].run(["/tmp/rig/rsh", "h1", "echo preload=$LD_PRELOAD"], env=shim(openmpi4))
    assert done.stdout == "preload=\n"
