"""Records of runs, as `evenkeel run --report` writes them, with everything that a page can show."""

import random

OPERATIONS = ["barrier", "allreduce", "bcast", "ialltoall"]
SLICES = 120


def histogram(rng, samples):
    counts = [0] * 90
    for _ in range(samples):
        counts[min(89, max(0, int(rng.gauss(45, 9))))] += 1
    return {"counts": counts}


def peer(rng, rank, ranks, times):
    return {"rank": (rank + 1 + rng.randrange(ranks - 1)) % ranks, "times": times, "ns": times * 40_000}


def operation(rng, name, rank, ranks):
    calls = 1000 + rng.randrange(50)
    wait_ns = rng.randrange(10**7, 10**9)
    last = rng.randrange(1, 200)
    is_deferred = name == "barrier"
    return {
        "op": name,
        "calls": calls,
        "host_calls": 3 if name == "bcast" else 0,
        "bytes": 0 if is_deferred else calls * 8192,
        "time_ns": wait_ns + calls * 900,
        "wait_ns": wait_ns,
        "last": last,
        "late_ns": last * rng.randrange(1_000, 90_000),
        "samples": 64,
        "deferred": calls // 2 if is_deferred else 0,
        "ahead": 7 if is_deferred else 0,
        "overlapped_ns": 10**8 if is_deferred else 0,
        "waited_for": [peer(rng, rank, ranks, 50)],
        "latency": histogram(rng, 64),
    }


def communicator(rng, rank, members, name, identifier):
    return {
        "id": identifier,
        "name": name,
        "members": members,
        "segment_bytes": 1 << 22,
        "host_reason": "",
        "ops": [operation(rng, op, rank, max(members) + 1) for op in OPERATIONS],
    }


def rank_record(rng, rank, ranks):
    half = [member for member in range(ranks) if member % 2 == rank % 2]
    comms = [communicator(rng, rank, list(range(ranks)), "MPI_COMM_WORLD", "1")]
    if len(half) > 1:
        comms.append(communicator(rng, rank, half, "<b>half</b>", f"{2 + rank % 2}"))
    return {
        "rank": rank,
        "host": f"node{rank // 64}",
        "pid": 1000 + rank,
        "elapsed_ns": 12 * 10**9,
        "cpu_ns": 9 * 10**9,
        "cores": [rank % 64],
        "wait_policy": "auto",
        "comms": comms,
        "timeline": {
            "slice_ns": 10**8,
            "wait_ns": [rng.randrange(10**8) if rank % 5 else 0 for _ in range(SLICES)],
        },
        "observers": [["MPI_Send", 40], ["write()", 12], ["window full", 3]],
        "messages": 500,
        "messages_ahead": 20,
        "message_bytes": 500 * 4096,
        "host_messages": 40,
        "host_message_bytes": 40 * 65536,
        "message_time_ns": 10**9,
        "message_wait_ns": 8 * 10**8,
        "messages_waited_for": [peer(rng, rank, ranks, 30)],
        "messages_sent_to": [{"rank": (rank + 1) % ranks, "messages": 540, "bytes": 540 * 4096}],
        "notes": ["This is a note."] if rank == 0 else [],
    }


def run(ranks):
    """The record of a run of so many ranks: the same each time."""
    rng = random.Random(ranks)
    return {
        "schema": 1,
        "version": "0.1.0",
        "program": "./solver --name '<script>alert(1)</script>' input.dat",
        "mpi": "Open MPI v4.1.4",
        "shim": "openmpi4",
        "started_unix_ns": 1_750_000_000 * 10**9,
        "elapsed_ns": 12 * 10**9,
        "ranks": [rank_record(rng, rank, ranks) for rank in range(ranks)],
    }
