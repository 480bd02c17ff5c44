"""What the markers of a test ask for. They are those of this plugin, of mpi-pytest and of pytest-mpi."""

import os
from typing import NamedTuple, Optional

import pytest

from pytest_evenkeel import options, world

MARKERS = [
    "mpi(ranks=None, min_size=None, timeout=None): run this test on so many MPI ranks, at least so many; "
    "end it after so many seconds",
    "parallel(nprocs=3, timeout=None): run this test on so many MPI ranks; with a list, once for each number",
    "mpi_skip: skip this test under MPI",
    "mpi_break: skip this test under MPI",
    "mpi_xfail: this test fails under MPI",
    "parallel[match]: tests that the running number of ranks fits",
]

MPI_DEFAULT_RANKS = 2
PARALLEL_DEFAULT_RANKS = 3

# The parameter that stands for the number of ranks where `parallel` has a list of them.
PARAMETER = "_evenkeel_nprocs"


class Request(NamedTuple):
    """On how many ranks a test is to run."""

    ranks: int  # how many a job is started with
    exact: bool  # whether no other number will do
    least: int  # the smallest number that will do
    starts: bool  # whether an ordinary run starts a job for it
    timeout_s: Optional[float]  # None: as for all tests

    def unfit_reason(self, size):
        """Why the test cannot run on `size` ranks, or ''."""
        if self.exact and size != self.ranks:
            return f"needs {self.ranks} MPI ranks, and this job has {size}"
        return f"needs at least {self.least} MPI ranks, and this job has {size}" if size < self.least else ""


REQUEST = pytest.StashKey()
REGISTERED = pytest.StashKey()  # names of markers that pytest has been told of


def positive(number, test):
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise pytest.UsageError(f"evenkeel: {test}: a number of ranks is a whole number above 0: {number!r}")
    most = os.environ.get("PYTEST_MPI_MAX_NPROCS", "")
    if most.isdigit() and number > int(most):
        raise pytest.UsageError(f"evenkeel: {test}: {number} ranks, and PYTEST_MPI_MAX_NPROCS is {most}")
    return number


def first(marker, *names):
    """The marker's first positional argument, or the first of these keywords that it has, or None."""
    if marker.args:
        return marker.args[0]
    return next((marker.kwargs[name] for name in names if marker.kwargs.get(name) is not None), None)


def parametrize(metafunc):
    """Makes one test for each number in `parallel([1, 3])`."""
    marker = metafunc.definition.get_closest_marker("parallel")
    numbers = first(marker, "nprocs") if marker else None
    if isinstance(numbers, (list, tuple, range)):
        for number in numbers:
            positive(number, metafunc.definition.nodeid)
        metafunc.fixturenames.append(PARAMETER)
        metafunc.parametrize(PARAMETER, list(numbers), ids=[f"nprocs={number}" for number in numbers])


def of_mpi(marker, test, default):
    least = positive(first(marker, "min_size", "minsize") or 1, test) if not marker.args else 1
    ranks = first(marker, "ranks") if marker.args or "ranks" in marker.kwargs else None
    timeout_s = marker.kwargs.get("timeout")
    if ranks is not None:
        return Request(positive(ranks, test), True, least, True, timeout_s)
    return Request(max(least, default or MPI_DEFAULT_RANKS), False, least, True, timeout_s)


def of_parallel(marker, item, default):
    ranks = first(marker, "nprocs")
    if isinstance(ranks, (list, tuple, range)):
        ranks = item.callspec.params[PARAMETER]
    ranks = positive(ranks or default or PARALLEL_DEFAULT_RANKS, item.nodeid)
    return Request(ranks, True, ranks, ranks > 1, marker.kwargs.get("timeout"))


def request_of(config, item):
    """The request of a test, or None if it has no marker that makes one."""
    default = options.default_ranks(config)
    if marker := item.get_closest_marker("mpi"):
        return of_mpi(marker, item.nodeid, default)
    if marker := item.get_closest_marker("parallel"):
        return of_parallel(marker, item, default)
    return None


def note(config, item):
    """Reads the markers of a test. Keeps its request, and adds the markers by which tests are chosen."""
    request = request_of(config, item)
    item.stash[REQUEST] = request
    ranks = request.ranks if request and request.exact else 1
    for name in [f"parallel[{ranks}]", *(["parallel[match]"] if ranks == world.size() else [])]:
        registered = config.stash.setdefault(REGISTERED, {"parallel[match]"})
        if name not in registered:
            registered.add(name)
            config.addinivalue_line("markers", f"{name}: tests on {ranks} ranks")
        item.add_marker(name)
    if config.getoption("only_mpi", False) and request is None:
        item.add_marker(pytest.mark.skip(reason="--only-mpi: this test is not marked as an MPI test"))
    if not world.job_directory() and world.size() == 1:
        return
    for name in ("mpi_skip", "mpi_break"):
        if item.get_closest_marker(name):
            item.add_marker(pytest.mark.skip(reason=f"marked {name}: not run under MPI"))
    if item.get_closest_marker("mpi_xfail"):
        item.add_marker(pytest.mark.xfail(reason="marked mpi_xfail: fails under MPI"))
