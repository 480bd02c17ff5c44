"""Fixtures for the rig's own tests. Where the machine allows no rig, they are skipped with the reason."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evenkeel_rig import Rig, RigUnavailableError

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def rig_of_four():
    """One rig for all tests that leave it as they found it."""
    try:
        with Rig(4, shared=[CHECKOUT]) as rig:
            yield rig
    except RigUnavailableError as error:
        if os.environ.get("EVENKEEL_TEST_NODES") == "required":
            raise
        pytest.skip(str(error))
