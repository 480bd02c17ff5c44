"""Runs tests that need several MPI ranks, under evenkeel.

A pytest process that loads this plugin has one of three roles:

* In an ordinary run it starts marked tests as jobs of several ranks (`starter.py`).
* Each rank of such a job runs the same tests and writes what became of them into a file (`rank.py`).
* If pytest itself was started by `mpirun`, it starts nothing. The ranks run the tests together, and rank 0
  reports for all (`member.py`).

May use: pytest, and nothing else. Must never: import mpi4py, or start MPI in the process of an ordinary run.
"""

import pytest

from pytest_evenkeel import fixtures, neighbours, options, places, requested, world
from pytest_evenkeel.member import Member
from pytest_evenkeel.rank import Rank
from pytest_evenkeel.starter import Starter


def pytest_addoption(parser, pluginmanager):
    options.add(parser, with_mpi=not neighbours.define_with_mpi(pluginmanager))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Gives this process its role, before anything acts upon the options."""
    if world.job_directory():
        role = Rank(config, world.job_directory())
    elif world.size() > 1 and not hasattr(config, "workerinput"):
        role = Member(config)
    else:
        role = Starter(config)
    config.pluginmanager.register(role, "evenkeel-role")


def pytest_configure(config):
    for line in requested.MARKERS:
        config.addinivalue_line("markers", line)
    if not neighbours.define_fixtures(config.pluginmanager):
        config.pluginmanager.register(fixtures, "evenkeel-fixtures")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    neighbours.replace(session.config.pluginmanager)


def pytest_generate_tests(metafunc):
    requested.parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        requested.note(config, item)
    places.note(items)
