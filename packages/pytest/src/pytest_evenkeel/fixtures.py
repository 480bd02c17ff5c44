"""Paths that all ranks of a test share, under the names that pytest-mpi gives them."""

import hashlib
from pathlib import Path

import pytest

from pytest_evenkeel import world


@pytest.fixture
def mpi_tmp_path(request):
    """A new, empty directory, the same on all ranks. In a process without MPI it is `tmp_path`."""
    if world.job_directory():
        shared = Path(world.job_directory()) / "shared"
    elif world.size() > 1:
        shared = world.shared_directory() / "shared"
    else:
        return request.getfixturevalue("tmp_path")
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]
    path = shared / name
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


@pytest.fixture
def mpi_tmpdir(mpi_tmp_path):
    """`mpi_tmp_path` as an object of py.path."""
    return pytest.importorskip("py").path.local(str(mpi_tmp_path))


@pytest.fixture
def mpi_file_name(mpi_tmp_path):
    """A path in that directory at which there is no file yet, the same on all ranks."""
    return mpi_tmp_path / "file"
