"""What `evenkeel where` must say of each of tests/programs/planted_hangs.c, and slow_jobs.c's names."""

import dataclasses

from hanging_jobs import hang
from mpis import KEEP_JOB_AFTER_DEATH


@dataclasses.dataclass
class Case:
    """One mistake: the finding that tells it, and what is wrong, for people."""

    name: str
    kind: str
    pattern: str
    mistake: str
    outlives_death: bool = False  # the launcher must leave the others alive
    is_deadlock: bool = False  # it is proved that the job cannot go on

    def hang(self, mpi, then=None):
        """Runs it until it is said what must be said; see hanging_jobs.hang."""
        extra = KEEP_JOB_AFTER_DEATH[mpi.family] if self.outlives_death else ()
        program = "planted_hangs.c"
        return hang(
            mpi, self.name, kind=self.kind, pattern=self.pattern, then=then, program=program, extra=extra
        )


def missing(name, call, rank, others, doing, mistake, comm="world"):
    pattern = rf"^Rank {rank} has not called MPI_{call} on {comm} .*in which {others} .*: it is {doing}"
    return Case(name, "missing", pattern, mistake)


def absent(name, call, there, rank, mistake):
    """A rank is not in a collective that the MPI library carries out."""
    pattern = rf"^Ranks {there} are in MPI_{call} on world .*; rank {rank} is not: it is outside MPI, running"
    return Case(name, "not-in-collective", pattern, mistake)


def unknown(name, call, there, rank, mistake):
    pattern = rf"^Ranks {there} wait in MPI_{call}, .* not known; rank {rank} does not: .* running"
    return Case(name, "unknown", pattern, mistake)


def deadlock(name, pattern, mistake):
    return Case(name, "deadlock", pattern, mistake, is_deadlock=True)


RUNS = "outside MPI, running"
UNPROVED = ".* not proved: a message has been sent that no rank has received"

PLANTED = [
    # A rank does not come to a collective.
    missing("skipped_barrier", "Barrier", 2, "3 others wait", RUNS, "a rank computes in place of a barrier"),
    missing(
        "skipped_in_a_row", "Allreduce", 1, "rank 3 waits", RUNS, "the same in a row of ranks", comm="row"
    ),
    missing(
        "root_that_reads_its_input",
        "Bcast",
        0,
        "3 others wait",
        "outside MPI, sleeping in `read`",
        "the root of a broadcast waits for input",
    ),
    missing(
        "one_part_of_a_sum_is_missing", "Reduce", 3, "rank 0 waits", RUNS, "a rank leaves MPI_Reduce out"
    ),
    missing("long_broadcast", "Bcast", 0, "3 others wait", RUNS, "no root of a long broadcast"),
    missing("gather_without_a_root", "Barrier", 0, "3 others wait", RUNS, "no root of a gather"),
    missing("scan_without_its_beginning", "Scan", 0, "3 others wait", RUNS, "rank 0 leaves MPI_Scan out"),
    missing(
        "blocks_of_different_lengths", "Allgatherv", 1, "3 others wait", RUNS, "no part of MPI_Allgatherv"
    ),
    absent("split_without_all", "Comm_split", "0-1, 3", 2, "a rank leaves MPI_Comm_split out"),
    absent("window_without_all", "Win_create", "0-2", 3, "a rank leaves MPI_Win_create out"),
    unknown("fence_without_all", "Win_fence", "0, 2-3", 1, "a rank leaves MPI_Win_fence out"),
    unknown(
        "nonblocking_sum_that_one_has_not_started", "Wait", "0-1, 3", 2, "a rank leaves MPI_Iallreduce out"
    ),
    unknown(
        "other_side_of_an_intercommunicator", "Barrier", "0, 2-3", 1, "no barrier of an intercommunicator"
    ),
    # Ranks have taken different branches.
    deadlock(
        "one_iteration_less",
        "^Ranks 0 and 2 wait for each other in MPI_Allreduce and MPI_Ssend",
        "one iteration less",
    ),
    deadlock(
        "wrong_root",
        "^Ranks 1 and 3 wait for each other in MPI_Barrier and MPI_Bcast .*root 1",
        "another root of a broadcast",
    ),
    Case(
        "other_order",
        "different-collectives",
        "^Rank 3 called MPI_Allreduce as its 12th .*, ranks 0-2 MPI_Barrier",
        "collectives in another order",
        is_deadlock=True,
    ),
    deadlock(
        "communicators_in_other_order",
        "^Ranks 0, 1, 2 and 3 wait for each other in MPI_Barrier",
        "barriers of two communicators in another order",
    ),
    deadlock(
        "rows_and_columns",
        "^Ranks 0, 1, 2 and 3 wait for each other in MPI_Allreduce",
        "sums of rows and columns in another order",
    ),
    deadlock(
        "a_message_behind_a_barrier",
        "^Ranks 0 and 1 .* MPI_Barrier and MPI_Recv",
        "a message is sent behind the barrier before which it is awaited",
    ),
    deadlock(
        "a_message_behind_a_sum",
        "^Ranks 0 and 3 .* MPI_Allreduce and MPI_Recv",
        "a message is sent behind the sum before which it is awaited",
    ),
    # Messages.
    deadlock(
        "receives_head_to_head",
        "^Ranks 0 and 1 wait for each other in MPI_Recv: deadlock",
        "both receive first",
    ),
    deadlock(
        "sends_head_to_head",
        "^Ranks 0 and 1 wait for each other in MPI_Ssend: deadlock",
        "both send synchronously first",
    ),
    Case(
        "long_sends_head_to_head",
        "circle",
        "^Ranks 0 and 1 wait for each other in MPI_Send. .*not proved",
        "both send long messages first",
    ),
    deadlock(
        "ring", "^Ranks 0, 1, 2 and 3 wait for each other in MPI_Recv", "a ring in which all receive first"
    ),
    Case("wrong_tag", "circle", rf"^Ranks 0 and 1 .* from rank 0, tag 6 {UNPROVED}", "another tag"),
    Case("wrong_source", "circle", rf"^Ranks 1 and 2 .* from rank 2, tag 5 {UNPROVED}", "another source"),
    Case(
        "wrong_communicator",
        "circle",
        rf"^Ranks 0 and 1 .* from rank 0, tag 5 {UNPROVED}",
        "another communicator",
    ),
    deadlock(
        "one_result_less",
        r"^Ranks 0, 1, 2 and 3 .*\(0 in MPI_Recv from any rank",
        "a result is awaited that no rank sends",
    ),
    deadlock(
        "workers_without_an_end",
        "^Ranks 0 and 3 .* MPI_Barrier and MPI_Recv",
        "one worker is not told to end",
    ),
    Case(
        "exchange_with_the_wrong_side",
        "circle",
        rf"^Ranks 0, 1, 2 and 3 .* MPI_Sendrecv {UNPROVED}",
        "MPI_Sendrecv with the wrong neighbour",
    ),
    deadlock("probe", "^Ranks 1 and 3 .* MPI_Barrier and MPI_Probe", "MPI_Probe for what no rank sends"),
    Case(
        "waitall",
        "missing",
        "^Rank 3 has not called MPI_Barrier .*: it is in MPI_Waitall",
        "a request that no rank meets",
    ),
    Case(
        "persistent_receive",
        "unknown",
        "^Ranks 0-3 wait in MPI_Wait, for which other ranks is not known",
        "persistent receives only",
    ),
    deadlock("to_itself", "^Rank 1 waits for itself in MPI_Ssend: deadlock", "a synchronous send to itself"),
    missing("polling", "Barrier", 2, "3 others wait", RUNS, "MPI_Iprobe in a loop for what no rank sends"),
    # One-sided.
    Case(
        "lock_held",
        "message",
        "^Rank 1 waits in MPI_Recv from rank 2, tag 4; rank 2: it is in MPI_Win_lock",
        "a lock is held by a rank that waits for the next holder",
    ),
    Case(
        "post_without_a_start",
        "missing",
        "^Rank 0 has not called MPI_Barrier .*: it is in MPI_Win_wait",
        "MPI_Win_post without MPI_Win_start",
    ),
    # What a rank does outside MPI.
    missing(
        "stopped", "Barrier", 1, "3 others wait", r"outside MPI, stopped \(SIGSTOP\)", "a stopped process"
    ),
    missing(
        "uninterruptible",
        "Allreduce",
        1,
        "3 others wait",
        "outside MPI, sleeping uninterruptibly in `vfork`",
        "a process in uninterruptible sleep",
    ),
    missing(
        "file_lock",
        "Allreduce",
        2,
        "3 others wait",
        "outside MPI, sleeping in `flock`",
        "a file that another rank has locked",
    ),
    missing(
        "own_mutex",
        "Allreduce",
        3,
        "3 others wait",
        "outside MPI, sleeping in `futex`",
        "a mutex that is locked twice",
    ),
    missing(
        "child",
        "Allreduce",
        1,
        "3 others wait",
        "outside MPI, sleeping in `wait4`",
        "a child process that does not end",
    ),
    missing(
        "server",
        "Allreduce",
        2,
        "3 others wait",
        "outside MPI, sleeping in `accept`",
        "a connection that no process opens",
    ),
    missing(
        "thread_that_does_not_end",
        "Barrier",
        0,
        "3 others wait",
        "outside MPI, sleeping in `futex`",
        "a thread that does not end",
    ),
    missing("asleep", "Barrier", 3, "3 others wait", "outside MPI, sleeping in `clock_nanosleep`", "`sleep`"),
    # Ranks that have ended.
    Case(
        "exited",
        "exited",
        "^Rank 0 waits in MPI_Recv for rank 2, but its process has exited without MPI_Finalize",
        "a rank has called `exit`",
        outlives_death=True,
    ),
    Case(
        "finalized",
        "exited",
        "^Rank 0 waits in MPI_Recv for rank 3, but it is in MPI_Finalize",
        "a rank is in MPI_Finalize",
    ),
]

# evenkeel ends these at once, since ranks have brought what does not fit to a collective.
ENDED_AT_ONCE = [
    (
        "one_iteration_less_and_the_end",
        r"rank [013] is in MPI_Allreduce where rank 2 has called MPI_Finalize",
    ),
    ("wrong_root_of_a_sum", r"rank [01] is in MPI_Reduce where rank \d has called MPI_Barrier"),
]

SLOW = [
    "one_computes_longer",
    "token",
    "master_that_sleeps",
    "polling",
    "late_partner",
    "late_receiver_of_much",
    "requests",
    "nonblocking_sum",
    "message_into_a_barrier",
    "parts_take_turns",
    "wait_for_a_child",
]
