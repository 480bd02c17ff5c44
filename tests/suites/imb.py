"""Cases of the Intel MPI Benchmarks, compiled with their check of results, and what their output says."""

import re

from testlists import Case

RANKS = [2, 4]

# Few repetitions and sizes up to 256 KiB: the results are of interest here, not the times.
SETTINGS = ["-iter", "10", "-msglog", "0:18", "-time", "2", "-mem", "1"]

# Benchmarks of each program. Those for many pairs of ranks, `Multi-…`, measure the same calls again.
BENCHMARKS = {
    "MPI1": "PingPong PingPing Sendrecv Exchange Allreduce Reduce Reduce_local Reduce_scatter "
    "Reduce_scatter_block Allgather Allgatherv Scatter Scatterv Gather Gatherv Alltoall Alltoallv Bcast "
    "Barrier",
    "NBC": "Ibcast Iallgather Iallgatherv Igather Igatherv Iscatter Iscatterv Ialltoall Ialltoallv Ireduce "
    "Ireduce_scatter Iallreduce Ibarrier",
    "RMA": "Unidir_put Unidir_get Bidir_put Bidir_get One_put_all One_get_all All_put_all All_get_all "
    "Put_local Put_all_local Exchange_put Exchange_get Accumulate Get_accumulate Fetch_and_op "
    "Compare_and_swap Truly_passive_put Get_local Get_all_local",
    "EXT": "Window Unidir_Put Unidir_Get Bidir_Get Bidir_Put Accumulate",
}

# A line of a table: numbers only. What is printed about a wrong result begins with the rank.
ENTRY = re.compile(r"^\s*\d[\d.eE+ -]*$")
COMPLAINT = re.compile(r"^\d+: Error ", re.MULTILINE)

# The largest relative error of a result that the suite itself takes for right (TOL).
TOLERATED_DEFECT = 1e-2


def cases():
    """A case for each benchmark and number of ranks."""
    return [
        Case("IMB", f"IMB-{target}", ranks, (*SETTINGS, "-npmin", str(ranks), name))
        for target, names in BENCHMARKS.items()
        for name in names.split()
        for ranks in RANKS
    ]


def outcome(code, out):
    """`pass`, `timeout`, or how a benchmark failed. Tables end in the column `defects` where it checks."""
    if code is None:
        return "timeout"
    if code:
        return f"fail: exit code {code}"
    if COMPLAINT.search(out):
        return "fail: it reports an error"
    entries, checked = 0, False
    for line in out.splitlines():
        if "#repetitions" in line:
            checked = line.split()[-1] == "defects"
        elif ENTRY.match(line):
            entries += 1
            if checked and float(line.split()[-1]) > TOLERATED_DEFECT:
                return "fail: defects in results"
    return "pass" if entries else "fail: no results"
