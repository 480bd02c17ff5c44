"""Ranks that take turns in holding memory never hold it at once (programs/memory_turns.c).

A control group may allow the memory of one rank only. With `EVENKEEL_GATE=off` nothing completes a pending
barrier when the program grows; the test that uses it shows that the others can fail.
"""

import re

import pytest

from paths import PROGRAMS

pytestmark = pytest.mark.in_turn

ALLOCATIONS = ["malloc", "calloc", "memalign", "aligned_alloc", "posix_memalign", "realloc", "pieces"]
MAPPINGS = ["mmap", "raw-mmap", "mremap", "mprotect", "many-mmaps", "sbrk"]
GIVEN_BACK = ["madvise", "syscall-madvise", "trimmed"]


def run_turns(mpi, way, *more, rounds=5, report=None, allocator=None, **env):
    """Returns the outcome and how often a rank held memory in the turn of another one."""
    name = f"memory_turns_{allocator}" if allocator else None
    sources = [str(PROGRAMS / f"{allocator}.c")] if allocator else []
    program = mpi.build("memory_turns.c", *sources, name=name)
    env.setdefault("EVENKEEL_CLOCK", "free")  # its stalls read the clock
    outcome = mpi.run(program, 3, f"way={way}", f"rounds={rounds}", *more, env=env, report=report).ok()
    found = re.search(r"RESULT checks (\d+) wrong (\d+)", outcome.out)
    assert int(found[1]) == 6 * rounds, outcome.text
    return outcome, int(found[2])


def notes(outcome):
    return " ".join(outcome.read_report()["ranks"][0]["notes"])


@pytest.mark.parametrize("mode", ["auto", "deferred"])
@pytest.mark.parametrize("way", ALLOCATIONS + MAPPINGS)
def test_a_rank_grows_only_after_all_have_entered(mpi, way, mode, report):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("memory does not depend on the MPI library; tested under Open MPI 4 and MPICH 5")
    outcome, wrong = run_turns(mpi, way, report=report, EVENKEEL_BARRIER=mode)
    assert wrong == 0, outcome.text
    if mode == "deferred" and "catch its own system calls" not in outcome.err:
        deferred = [entry["deferred"] for entry in outcome.operations("barrier")]
        assert min(deferred) > 0, "nothing was deferred: this tested nothing"


@pytest.mark.parametrize("way", GIVEN_BACK)
def test_memory_that_comes_again_without_a_call_makes_barriers_strict(openmpi4, way, report):
    outcome, wrong = run_turns(openmpi4, way, report=report, EVENKEEL_BARRIER="deferred")
    assert wrong == 0, outcome.text
    assert "gives memory back" in notes(outcome), notes(outcome)


@pytest.mark.parametrize("way", ["malloc", "calloc", "memalign", "realloc", "mmap"])
def test_an_allocator_that_holds_a_lock_is_not_entered(openmpi4, way):
    """The program's own allocator asks for memory with its lock held, where completion must not allocate."""
    outcome, wrong = run_turns(openmpi4, way, allocator="own_allocator", EVENKEEL_BARRIER="deferred")
    assert wrong == 0, outcome.text


@pytest.mark.parametrize("way", ["malloc", "pieces", "mmap", "sbrk", "madvise"])
def test_without_the_gate_ranks_hold_memory_at_once(openmpi4, way):
    _, wrong = run_turns(openmpi4, way, "held=1", EVENKEEL_BARRIER="deferred", EVENKEEL_GATE="off")
    assert wrong > 0, "the tests above would not notice it"
