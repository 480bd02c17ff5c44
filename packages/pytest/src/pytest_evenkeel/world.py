"""What the environment says of the MPI job that this process is a rank of. Starts no MPI."""

import os
import tempfile
from pathlib import Path

# Set by the starter for the ranks of its jobs: the directory with the job's files.
DIRECTORY = "EVENKEEL_PYTEST_JOB"

# Rank and number of ranks, as launchers tell their processes.
RANK_AND_SIZE = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
    ("PMIX_RANK", "SLURM_NTASKS"),
]
RANKS_HERE = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"]


def job_directory():
    """The directory of the job that a starter has started this process in, or None."""
    return os.environ.get(DIRECTORY)


def rank_and_size(environment=None):
    """Rank and number of ranks of this process's job; (0, 1) if no launcher has started it."""
    environment = os.environ if environment is None else environment
    for rank, size in RANK_AND_SIZE:
        if environment.get(rank, "").isdigit() and environment.get(size, "").isdigit():
            return int(environment[rank]), int(environment[size])
    return 0, 1


def size():
    return rank_and_size()[1]


def on_one_machine():
    """Whether all ranks of the job run on this machine; False also if that is unknown."""
    for name in RANKS_HERE:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name]) == size()
    return os.environ.get("SLURM_STEP_NUM_NODES", os.environ.get("SLURM_NNODES")) == "1"


def launcher():
    """Process id and start time of what started the ranks: the first ancestor that is no rank itself.

    All ranks of a machine get the same answer, also if a script lies between the launcher and pytest.
    """
    pid = os.getppid()
    while pid > 1:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                pairs = [pair.partition(b"=") for pair in file.read().split(b"\0")]
        except OSError:
            break  # another user's, as Slurm's daemon is
        environment = {
            name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs
        }
        if rank_and_size(environment) == (0, 1):
            break
        pid = int(stat(pid)[1])
    return pid, int(stat(pid)[19])


def stat(pid):
    """Fields of /proc/PID/stat from the third on (state, parent, …); the second may hold spaces."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def shared_directory():
    """A directory that only this user can enter, and that all ranks of this machine's job find."""
    pid, started = launcher()
    path = Path(tempfile.gettempdir()) / f"evenkeel-pytest-{os.getuid()}-{pid}-{started}"
    path.mkdir(mode=0o700, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.getuid():
        raise PermissionError(f"evenkeel: {path} belongs to another user; set TMPDIR to another directory")
    return path
