"""Legal calls that few programs make give under evenkeel what they give without it."""

import pytest

from verdicts import assert_passed

pytestmark = pytest.mark.in_turn

CASES = [
    "null_buffers",
    "pair_holes",
    "failed_exchange",
    "no_process",
    "freed_types",
    "many_duplicates",
    "group",
    "parrived",
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ranks", [2, 4])
def test_calls_that_few_programs_make(mpi, case, ranks):
    assert_passed(mpi.run(mpi.build("rarely_used.c"), ranks, f"what={case}", timeout=120))
