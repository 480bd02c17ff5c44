"""`--trace-level times` and `evenkeel export`: each MPI call with its times, and which receive took which
message."""

import gzip
import json
import os
import signal
import subprocess

import pytest

from paths import EVENKEEL
from processes import HUNG_S, until

SOURCE = "timed.c"
RANKS = 3
USED_OFFSET = 512
HEADER_BYTES = 4096


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def record(mpi, folder, *arguments, ranks=RANKS, options=("--trace-level", "times")):
    options = ["--trace", folder, "--quiet", *options]
    return mpi.evenkeel(mpi.build(SOURCE), ranks, *arguments, options=options).ok()


def export(folder, *arguments):
    done = subprocess.run(
        [EVENKEEL, "export", folder, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def time_line(folder, name="t.json"):
    output = folder / name
    export(folder, "-o", output)
    raw = output.read_bytes()
    return json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)["traceEvents"]


def slices(events, name=None):
    return [e for e in events if e["ph"] == "X" and name in (None, e["name"])]


def arrows(events):
    """The calls at both ends of each arrow: (rank, function), (rank, function)."""
    ends = {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], {})[event["ph"]] = event

    def at(end):
        inside = [
            s
            for s in slices(events)
            if (s["pid"], s["tid"]) == (end["pid"], end["tid"]) and s["ts"] <= end["ts"] <= s["ts"] + s["dur"]
        ]
        assert inside, end
        return inside[0]["pid"], inside[0]["name"]

    return sorted((at(both["s"]), at(both["f"])) for both in ends.values())


def test_every_call_has_a_slice_and_every_message_an_arrow(mpi, tmp_path):
    record(mpi, tmp_path, "all")
    events = time_line(tmp_path)
    names = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    assert names == {f"rank {rank}" for rank in range(RANKS)}
    for name in ("MPI_Init_thread", "MPI_Finalize", "MPI_Sendrecv", "MPI_Comm_split", "MPI_Comm_dup"):
        assert len(slices(events, name)) == RANKS, name
    assert len(slices(events, "MPI_Comm_free")) == 2 * RANKS
    messages = arrows(events)
    assert sum(m == ((1, "MPI_Send"), (0, "MPI_Recv")) for m in messages) == 1
    assert sum(m == ((2, "MPI_Isend"), (0, "MPI_Waitall")) for m in messages) == 1
    assert sum(m[0][1] == "MPI_Sendrecv" == m[1][1] for m in messages) == RANKS
    assert sum(m[0][1] == "MPI_Startall" and m[1][1] == "MPI_Waitany" for m in messages) == 3 * RANKS
    assert len(messages) == (RANKS - 1) * 2 + RANKS * 4


def test_arguments_say_what_the_call_was_about(mpi, tmp_path):
    record(mpi, tmp_path, "all")
    events = time_line(tmp_path, "t.json.gz")
    receives = [e["args"] for e in slices(events, "MPI_Recv")]
    assert sorted((r["peer"], r["tag"], r["bytes"]) for r in receives) == [(1, 11, 4), (2, 12, 4)]
    assert {r["asked for"] for r in receives} == {"MPI_ANY_SOURCE, MPI_ANY_TAG"}
    assert all(r["comm"] == "MPI_COMM_WORLD" for r in receives)
    assert all(r["site"].startswith("blocking_from_any timed.c:") for r in receives), receives
    ring = [e["args"] for e in slices(events, "MPI_Sendrecv")]
    assert {(a["bytes"], a["received bytes"], a["tag"]) for a in ring} == {(100, 100, 5)}
    sums = [e["args"] for e in slices(events, "MPI_Allreduce")]
    assert len({a["collective"] for a in sums}) == 1 and sums[0]["collective"].startswith("1 on")
    roots = [e["args"] for e in slices(events, "MPI_Bcast")]
    assert {a["peer"] for a in roots} == {1} and len({a["collective"] for a in roots}) == 1
    assert roots[0]["comm"] == sums[0]["comm"] != slices(events, "MPI_Barrier")[-1]["args"]["comm"]


def test_slices_of_a_track_follow_each_other(openmpi4, tmp_path):
    record(openmpi4, tmp_path, "loop", 200)
    events = time_line(tmp_path)
    for rank in range(RANKS):
        last = 0.0
        track = [e for e in slices(events) if e["pid"] == rank]
        assert len(track) == 2 + 2 * 200
        for event in track:
            assert event["ts"] >= last - 0.001
            last = event["ts"] + event["dur"]
        assert last < 60e6
    size = int.from_bytes((tmp_path / "rank-1.times").read_bytes()[USED_OFFSET : USED_OFFSET + 8], "little")
    assert size < 402 * 16 + 600


def test_the_summary_counts_calls(mpich5, tmp_path):
    record(mpich5, tmp_path, "loop", 50)
    text = export(tmp_path)
    row = next(line.split() for line in text.splitlines() if line.startswith("MPI_Allreduce"))
    assert row[1] == str(50 * RANKS)
    assert "3 ranks" in text and "bytes" in text


def test_without_the_level_there_are_no_times(openmpi4, tmp_path):
    record(openmpi4, tmp_path, "all", options=())
    assert not list(tmp_path.glob("*.times"))
    done = subprocess.run([EVENKEEL, "export", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 125 or done.returncode == 2 or done.returncode == 1
    assert done.stderr.startswith("evenkeel:") and "--trace-level times" in done.stderr


def test_a_rank_that_is_killed_has_all_calls_and_the_one_that_it_was_in(mpich5, tmp_path):
    """Killed with SIGKILL, as a job that exceeds its time."""
    line = [EVENKEEL, "run", "-n", "2", "--trace", tmp_path, "--trace-level", "times", "--quiet", "--"]
    job = subprocess.Popen(
        [*line, mpich5.build(SOURCE), "hang"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        file = tmp_path / "rank-0.times"

        def is_in_recv():
            raw = file.read_bytes() if file.exists() else b""
            return len(raw) > HEADER_BYTES and b"MPI_Recv" in raw[560:600] and raw

        raw = until(is_in_recv)
        assert raw, "rank 0 has not come to MPI_Recv"
        os.kill(int.from_bytes(raw[80:84], "little"), signal.SIGKILL)
        job.wait(timeout=HUNG_S)
    finally:
        job.kill()
        job.wait()
    assert "rank 0 ended in MPI_Recv" in export(tmp_path)
    events = time_line(tmp_path)
    last = [e for e in slices(events, "MPI_Recv") if e["pid"] == 0]
    assert last[0]["args"]["tag"] == 99 and "ended" in last[0]["args"]


def test_a_repetition_can_be_timed(openmpi4, tmp_path):
    record(openmpi4, tmp_path / "t", "all", options=())
    program = openmpi4.build(SOURCE)
    options = ["--replay", tmp_path / "t", "--trace", tmp_path / "u", "--trace-level", "times", "--quiet"]
    openmpi4.evenkeel(program, RANKS, "all", options=options).ok()
    assert len(arrows(time_line(tmp_path / "u"))) == (RANKS - 1) * 2 + RANKS * 4
    assert not list((tmp_path / "u").glob("*.trace"))


def test_a_damaged_file_is_refused_with_a_sentence(openmpi4, tmp_path):
    record(openmpi4, tmp_path, "loop", 5)
    file = tmp_path / "rank-1.times"
    raw = bytearray(file.read_bytes())
    raw[HEADER_BYTES + 40] ^= 4
    file.write_bytes(raw)
    done = subprocess.run([EVENKEEL, "export", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode and "rank-1.times" in done.stderr and "damaged" in done.stderr
