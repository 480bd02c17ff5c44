"""Programs that could once tell deferred barriers from strict ones, under every library and by default too.

Each stands for a class. More of each class is in test_deferred_barriers.py, test_messages.py and
test_memory_growth.py, which also show that the tests fail where the rule is left out.
"""

import os
import re
import shutil
import tempfile

import pytest

import mpis
from verdicts import assert_never_wrong, assert_passed

pytestmark = pytest.mark.in_turn

MODES = ["default", "deferred"]
CHANNELS = ["hangup", "terminate", "aio", "posix-shm", "library-map", "raw-map", "limit"]


@pytest.fixture
def directory():
    """A folder with a short name: the names of sockets may have 107 bytes."""
    path = tempfile.mkdtemp(prefix="ek-")
    yield path
    shutil.rmtree(path)


def environment(mode, **more):
    return more if mode == "default" else {"EVENKEEL_BARRIER": mode, **more}


def ranks_for(mpi, mode, salt):
    """From 2 to 8, so that all numbers occur under the libraries taken together."""
    names = [each.name for each in mpis.ALL]
    return 2 + (3 * names.index(mpi.name) + 2 * MODES.index(mode) + salt) % 7


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("channel", CHANNELS)
def test_signals_threads_mappings_and_limits(mpi, channel, mode, directory):
    ranks = ranks_for(mpi, mode, CHANNELS.index(channel))
    library = mpi.build("map_for_all.c", "-shared", "-fPIC", name="libmpimap.so")
    # The program's stalls read the clock, which is to leave barriers pending.
    env = environment(mode, HIDDEN_LIBRARY=str(library), EVENKEEL_CLOCK="free")
    arguments = [f"channel={channel}", "rounds=200", f"dir={directory}"]
    outcome = mpi.run(mpi.build("hidden_channels.c"), ranks, *arguments, env=env).ok()
    checks, wrong = map(int, re.search(r"RESULT checks (\d+) wrong (\d+)", outcome.out).groups())
    assert checks == 200 * (ranks - 1) and wrong == 0, outcome.text


@pytest.mark.parametrize("mode", MODES)
def test_cancelled_receives_and_buffered_sends(mpi, mode):
    ranks = ranks_for(mpi, mode, 1)
    env = environment(mode)
    assert_passed(mpi.run(mpi.build("messages.c"), ranks, "rounds=10", env=env))


@pytest.mark.parametrize("mode", MODES)
def test_an_error_handler_that_writes_a_file(mpi, mode, directory):
    arguments = ["case=errhandler", f"dir={directory}", "rounds=10"]
    outcome = mpi.run(mpi.build("program_code.c"), ranks_for(mpi, mode, 2), *arguments, env=environment(mode))
    assert_never_wrong(outcome)


@pytest.mark.parametrize("mode", MODES)
def test_a_fault_behind_a_barrier(mpi, mode, directory):
    arguments = ["case=trap", f"dir={directory}", "rounds=1"]
    outcome = mpi.run(mpi.build("program_code.c"), ranks_for(mpi, mode, 3), *arguments, env=environment(mode))
    assert outcome.code not in (0, None), outcome.text
    assert os.path.exists(f"{directory}/checkpoint0"), outcome.text


@pytest.mark.parametrize("mode", MODES)
def test_a_passive_target(mpi, mode):
    """It waits in a barrier. How long an update takes is measured elsewhere."""
    ranks = (
        2 if mpi.family == "mpich" else ranks_for(mpi, mode, 4)
    )  # MPICH spins; machines may have two cores
    outcome = mpi.run(mpi.build("passive_target.c"), ranks, "updates=300", env=environment(mode))
    assert_never_wrong(outcome)


@pytest.mark.parametrize("mode", MODES)
def test_ranks_that_take_turns_in_holding_memory(mpi, mode):
    ranks = ranks_for(mpi, mode, 5)
    arguments = ["way=malloc", "rounds=3"]
    outcome = mpi.run(mpi.build("memory_turns.c"), ranks, *arguments, env=environment(mode)).ok()
    assert re.search(r"RESULT checks \d+ wrong 0\b", outcome.out), outcome.text


@pytest.mark.parametrize("mode", MODES)
def test_clocks_compared_between_ranks(mpi, mode):
    outcome = mpi.run(mpi.build("clocks.c"), ranks_for(mpi, mode, 6), env=environment(mode))
    assert_never_wrong(outcome)
