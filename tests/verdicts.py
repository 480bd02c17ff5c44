"""Reads what the programs in tests/programs print at their end."""

import re


def assert_passed(outcome):
    """The program checked something and found no failure. Returns the digest of all its results."""
    return assert_checked(outcome.code, outcome.out, outcome.err)


def assert_checked(code, out, err):
    """The same for the parts of an outcome: programs that end with verdict() of check.h."""
    found = re.search(r"RESULT checks (\d+) failures (\d+) digest (\w+)", out)
    assert code == 0 and found, f"exit code {code}\n{out[-2000:]}\n{err[-4000:]}"
    checks, failures, digest = found.groups()
    assert int(checks) > 0 and failures == "0", err[-4000:]
    return digest


def assert_never_wrong(outcome):
    """The program ended, and what it counts (litmus.h, signal_masks.c) never was wrong."""
    outcome.ok()
    assert "RESULT wrong 0\n" in outcome.out, outcome.text
