"""The role of a rank that `mpirun` has started with pytest: nothing is started, and rank 0 reports for all.

Every rank runs every test that the number of ranks fits. No rank begins a test before rank 0 has all ranks'
results of the one before. Ranks of several machines have no directory in common: they report each for itself.
"""

import os
import shutil
import sys
import time

import pytest
from _pytest.runner import runtestprotocol

from pytest_evenkeel import combined, options, places, requested, world
from pytest_evenkeel.rank import replace_reporter
from pytest_evenkeel.report_files import EventReader, EventWriter, Gate, sleeps

# How long rank 0 waits at its end for the ends of the others.
END_S = 5.0


class Member:
    def __init__(self, config):
        self.config = config
        self.rank, self.size = world.rank_and_size()
        self.gathers = world.on_one_machine() and not config.getoption("numprocesses", None)
        self.test = -1  # the number of the running test
        self.lost = False  # whether ranks did not come: this process cannot end MPI with them
        self.reports = {}  # rank 0: (rank, test) to the reports
        self.ended = {}  # rank 0: (rank, test) to the name of the test
        self.over = set()  # rank 0: ranks whose sessions have ended
        if self.gathers and self.rank:  # files that all ranks would write are rank 0's
            for option in ("xmlpath", "report_log", "htmlpath", "log_file"):
                if getattr(config.option, option, None):
                    setattr(config.option, option, None)
        if self.gathers:
            self.directory = world.shared_directory()
            self.gate = Gate(self.directory)
            self.events = EventWriter(self.directory, self.rank)
            self.others = [EventReader(self.directory, rank) for rank in range(1, self.size)]

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        if self.gathers and self.rank:
            replace_reporter(config)

    def pytest_report_header(self):
        how = "rank 0 reports for all" if self.gathers else "each rank reports for itself"
        return f"evenkeel: pytest runs on {self.size} MPI ranks; {how}, and no jobs are started"

    def pytest_collection_modifyitems(self, items):
        for item in items:
            request = item.stash.get(requested.REQUEST, None)
            reason = request.unfit_reason(self.size) if request else ""
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if not self.gathers:
            return None
        self.test += 1
        self.wait_for_turn(item)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if self.rank:
            self.tell(item, reports)
        else:
            reports = self.gather(item, reports)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def wait_for_turn(self, item):
        """Ranks but 0 wait until rank 0 has the results of the test before. Rank 0 lets them go on."""
        if self.rank == 0:
            self.gate.open_for(self.test)
            return
        deadline = time.monotonic() + 2 * options.timeout_s(self.config)
        if self.gate.wait(self.test, lambda: time.monotonic() < deadline):
            return
        if self.gate.stopped():
            pytest.exit("rank 0 runs no more tests", returncode=0)
        sys.__stderr__.write(
            f"evenkeel: rank {self.rank} of {self.size} wants to begin {item.nodeid}, and rank 0 has "
            f"not ended the test before for {2 * options.timeout_s(self.config):g} s. The job is ended.\n"
        )
        sys.__stderr__.flush()
        os._exit(1)

    def tell(self, item, reports):
        hook = self.config.hook
        for report in reports:
            data = hook.pytest_report_to_serializable(config=self.config, report=report)
            self.events.write("report", test=self.test, report=data)
        self.events.write("finish", test=self.test, name=item.nodeid)

    def gather(self, item, own):
        """Rank 0: the reports of all ranks, combined."""
        self.reports[0, self.test], self.ended[0, self.test] = own, item.nodeid
        limit = options.timeout_s(self.config)
        request = item.stash.get(requested.REQUEST, None)
        if request and request.timeout_s:
            limit = request.timeout_s
        deadline = time.monotonic() + limit
        for seconds in sleeps():
            self.read()
            if (
                all((rank, self.test) in self.ended for rank in range(self.size))
                or time.monotonic() > deadline
            ):
                break
            time.sleep(seconds)
        results = [self.result(rank) for rank in range(self.size)]
        return combined.combine(item, results, self.problem(item, limit))

    def read(self):
        for rank, events in enumerate(self.others, 1):
            for event in events.read():
                if event["event"] == "report":
                    report = combined.restored(self.config, event["report"])
                    self.reports.setdefault((rank, event["test"]), []).append(report)
                elif event["event"] == "finish":
                    self.ended[rank, event["test"]] = event["name"]
                elif event["event"] == "end":
                    self.over.add(rank)

    def result(self, rank):
        result = combined.RankResult(rank)
        result.reports = {report.when: report for report in self.reports.pop((rank, self.test), [])}
        result.finished = (rank, self.test) in self.ended
        return result

    def problem(self, item, limit):
        """What makes the ranks' results no result: ranks that run another test, or have not come in time."""
        missing = [rank for rank in range(self.size) if (rank, self.test) not in self.ended]
        other = {rank: name for (rank, test), name in self.ended.items() if test == self.test}
        here = places.function(item.nodeid)
        differing = [rank for rank, name in other.items() if places.function(name) != here]
        self.ended = {}
        if differing:
            sentence = (
                f"evenkeel: {combined.names(differing)} ran another test meanwhile: {other[differing[0]]}"
            )
        elif missing:
            sentence = (
                f"evenkeel: {combined.names(missing)} did not end this test within {limit:g} s after rank 0. "
                "No further tests are run"
            )
        else:
            return None
        self.lost = True
        item.session.shouldfail = sentence
        return sentence, []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus):
        if not self.gathers:
            return
        if self.rank:
            self.events.write("end", status=int(exitstatus))
            return
        self.gate.stop()
        deadline = time.monotonic() + END_S
        for seconds in sleeps():
            self.read()
            if len(self.over) == self.size - 1 or self.lost or time.monotonic() > deadline:
                break
            time.sleep(seconds)
        shutil.rmtree(self.directory, ignore_errors=True)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        if self.lost:  # MPI_Finalize would wait for the ranks that have not come
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)
