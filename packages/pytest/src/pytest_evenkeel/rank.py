"""The role of a rank in a started job: runs its tests in lockstep and writes what becomes of them."""

import faulthandler
import json
import os
import sys
from pathlib import Path

import pytest

from pytest_evenkeel import passed_on, places, world
from pytest_evenkeel.job import STACKS_SIGNAL
from pytest_evenkeel.report_files import EventWriter, Gate


def replace_reporter(config):
    """Puts a terminal reporter that prints nowhere in the place of pytest's: other plugins ask for one."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None:
        return
    config.pluginmanager.unregister(reporter)
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (open as long as pytest runs)
    config.pluginmanager.register(type(reporter)(config, nowhere), "terminalreporter")


class Rank:
    def __init__(self, config, directory):
        self.config = config
        self.job = json.loads((Path(directory) / "job.json").read_text())
        self.rank = world.rank_and_size()[0]
        self.events = EventWriter(directory, self.rank)
        self.gate = Gate(directory)
        self.numbers = {}  # test to its number in the job
        self.test = -1  # the number of the running test
        passed_on.apply(config, self.job["options"])
        faulthandler.register(STACKS_SIGNAL, file=2, all_threads=True)
        self.events.write("begin", pid=os.getpid())

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        replace_reporter(config)

    def pytest_collectreport(self, report):
        if report.failed:
            self.events.write("collection error", text=str(report.longrepr))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        wanted = list(zip(self.job["tests"], self.job["places"]))
        found = places.find(items, wanted)
        self.numbers = {item: number for number, item in enumerate(found) if item is not None}
        missing = [number for number, item in enumerate(found) if item is None]
        self.events.write("collected", missing=missing)
        items[:] = list(self.numbers)

    def starter_lives(self):
        """Whether the process that started the job is still there, as far as one can tell from here."""
        if os.uname().nodename != self.job["host"]:
            return True
        return Path(f"/proc/{self.job['starter']}").exists()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        test = self.numbers[item]
        if not self.gate.wait(test, self.starter_lives):
            pytest.exit("the starter wants no more tests", returncode=0)
        self.test = test
        self.events.write("start", test=test, output=self.written())
        try:
            return (yield)
        finally:
            self.events.write("finish", test=test, output=self.written())

    def pytest_runtest_logreport(self, report):
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.events.write("report", test=self.test, report=json.loads(json.dumps(data, default=str)))

    def written(self):
        """How many bytes the rank's output has."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return os.fstat(1).st_size

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus):
        self.events.write("end", status=int(exitstatus))
