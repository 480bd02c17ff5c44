"""Finds a test again on another rank.

Its name may differ there: projects put the rank into the names of parameters. Then the test is the one in the
same place among those of its function, if all ranks have equally many of them.
"""

import pytest

PLACE = pytest.StashKey()


def function(name):
    """The name of a test without its parameters."""
    return name.partition("[")[0]


def by_function(items):
    groups = {}
    for item in items:
        groups.setdefault(function(item.nodeid), []).append(item)
    return groups


def note(items):
    """Keeps the place of each test, before any is deselected."""
    for group in by_function(items).values():
        for number, item in enumerate(group):
            item.stash[PLACE] = [number, len(group)]


def find(items, wanted):
    """The items for these tests, given as pairs of a name and a place; None for one that is not there."""
    by_name = {item.nodeid: item for item in items}
    groups = by_function(items)
    found = []
    for name, (number, count) in wanted:
        group = groups.get(function(name), [])
        found.append(by_name.get(name) or (group[number] if len(group) == count else None))
    return found
