"""Fixtures. There is one browser for all tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from browser import Browser


@pytest.fixture(scope="session")
def window(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def browser(window):
    """The browser, as it is at first."""
    window.prefer("light")
    window.resize(1280, 900)
    return window


def pytest_terminal_summary(terminalreporter):
    """Says why tests were skipped."""
    reasons = {str(skipped.longrepr[2]) for skipped in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reasons):
        terminalreporter.write_line(f"not tested here: {reason.removeprefix('Skipped: ')}")
