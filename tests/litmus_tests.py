"""Cases of programs/litmus.c and programs/background_progress.c, by name, with the ranks that each needs.

Each is a small program about messages and barriers; its own comment says what may not be seen.
"""

from verdicts import assert_never_wrong

# For the library's messages and for those that evenkeel carries.
RANKS = {
    "stranded": 3,
    "absence": 3,
    "too-early": 2,
    "single-clock": 4,
    "hearsay": 4,
    "nested": 5,
    "collectives": 5,
    "progress": 3,
    "run-ahead": 5,
    "choice": 3,
    "short-lived": 3,
    "cancelled": 3,
    "cancelled-too-late": 3,
    "buffered": 2,
}

# Only for messages that evenkeel carries.
RANKS_OF_OWN_MESSAGES = RANKS | {"answer": 3, "entered": 3, "posted": 4, "buffer-is-full": 2}


def run_litmus(mpi, case, rounds, env, *more, ranks=None, **options):
    ranks = ranks or RANKS_OF_OWN_MESSAGES[case]
    arguments = [f"case={case}", *([f"rounds={rounds}"] if rounds else []), *more]
    env = {"EVENKEEL_CLOCK": "free"} | (env or {})  # its stalls read the clock
    return mpi.run(mpi.build("litmus.c"), ranks, *arguments, env=env, **options)


def run_background(mpi, case, rounds, env, *more, **options):
    arguments = [f"case={case}", f"rounds={rounds}", *more]
    return mpi.run(mpi.build("background_progress.c"), 3, *arguments, env=env, **options)


def assert_litmus(mpi, case, rounds, env):
    assert_never_wrong(run_litmus(mpi, case, rounds, env))
