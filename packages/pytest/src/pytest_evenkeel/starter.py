"""The role in an ordinary run: starts marked tests as jobs and reports what their ranks say.

Tests of one file that need the same number of ranks share a job, because starting MPI takes about half a
second. When a test has failed on some ranks only, has crashed or hung, the rest of them get a new job: what
the failed test left behind (unmatched messages, half-done collectives) must not reach them.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from pytest_evenkeel import combined, job_problems, options, passed_on, places, requested
from pytest_evenkeel.job import END_S, Job
from pytest_evenkeel.report_files import sleeps

# After a test has failed on one rank, the others get this long to end it, but at most half of the time limit:
# most wait for that rank for ever.
AFTER_FAILURE_S = 5.0

# How long ranks may take to start and to find their tests, at least.
START_S = 60.0


class Batch:
    """Tests that share a job, in the order in which pytest runs them."""

    def __init__(self, items, ranks):
        self.items = items
        self.ranks = ranks
        self.job = None
        self.first = 0  # the number, among `items`, of the job's first test
        self.began = 0.0  # when the running test began, or the job
        self.broken = None  # why no test of the batch can run


class Starter:
    def __init__(self, config):
        self.config = config
        self.path = list(sys.path)
        self.in_worker = hasattr(config, "workerinput")
        self.batches = {}  # test to its batch
        self.jobs_started = 0
        self.current = None  # the batch whose job runs
        self.refused = 0  # tests that could not be started

    def pytest_report_header(self):
        line = options.launch_line(self.config, "N")
        told = " ".join(line) if line else "the launcher is not installed"
        return f"evenkeel: tests on several ranks are started by: {told}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        groups = {}
        shares = options.shares_jobs(self.config) and not self.in_worker
        for item in items:
            request = item.stash.get(requested.REQUEST, None)
            if request and request.starts and not item.get_closest_marker("skip"):
                key = (str(item.path), request.ranks) if shares else item.nodeid
                groups.setdefault(key, []).append(item)
        for group in groups.values():
            batch = Batch(group, group[0].stash[requested.REQUEST].ranks)
            self.batches.update((item, batch) for item in group)
        if shares:  # tests of a batch one after the other, where the first of them was
            ordered = {}
            for item in items:
                for member in self.batches[item].items if item in self.batches else [item]:
                    ordered.setdefault(member)
            items[:] = list(ordered)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        batch = self.batches.get(item)
        if batch is None:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in [*self.run(batch, item), *self.teardown(item, nextitem)]:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def teardown(self, item, nextitem):
        """Tears down what the tests before this one, in this process, have set up for their own module."""
        call = pytest.CallInfo.from_call(
            lambda: item.session._setupstate.teardown_exact(nextitem),
            when="teardown",
            reraise=(pytest.exit.Exception,),
        )
        return [] if call.excinfo is None else [item.ihook.pytest_runtest_makereport(item=item, call=call)]

    def run(self, batch, item):
        """Runs a test on its ranks, and returns the reports for pytest."""
        if options.launch_line(self.config, batch.ranks) is None:
            return self.refuse(item, options.missing_sentence(self.config, batch.ranks))
        if batch.broken:
            results = [combined.RankResult(rank) for rank in range(batch.ranks)]
            return combined.combine(item, results, batch.broken)
        number = batch.items.index(item)
        if batch.job is None:
            self.start(batch, number)
        reports = self.follow(batch, item, number - batch.first)
        if batch.job and number + 1 == len(batch.items):
            reports = self.finish(batch, item, reports)
        return reports

    def refuse(self, item, sentence):
        self.refused += 1
        where = (str(item.path), (item.location[1] or 0) + 1, sentence)
        outcome, longrepr = ("failed", sentence) if options.must_run(self.config) else ("skipped", where)
        report = combined.new_report(item, [], "setup", outcome, longrepr)
        return [report, combined.new_report(item, [], "teardown", "passed", None)]

    def start(self, batch, first):
        """Starts a job for the tests of a batch from this one on."""
        self.stop_current()
        self.jobs_started += 1
        directory = self.new_directory()
        items = batch.items[first:]
        files = list(dict.fromkeys(item.path for item in items))
        description = {
            "ranks": batch.ranks,
            "tests": [item.nodeid for item in items],
            "places": [item.stash[places.PLACE] for item in items],
            "arguments": passed_on.arguments(self.config, files),
            "options": passed_on.values(self.config),
            "path": self.path,
            "starter": os.getpid(),
            "host": os.uname().nodename,
        }
        line = options.launch_line(self.config, batch.ranks)
        batch.job = Job(directory, line, batch.ranks, description)
        batch.first, batch.began = first, time.monotonic()
        self.current = batch

    def new_directory(self):
        """An empty directory for the files of a job. It is kept as pytest keeps its temporary directories."""
        factory = getattr(self.config, "_tmp_path_factory", None)
        if factory is None:
            return Path(tempfile.mkdtemp(prefix="evenkeel-pytest-"))
        return factory.mktemp("evenkeel-job")

    def follow(self, batch, item, test):
        """Lets the ranks run a test, and waits until all have ended it or it is clear that they will not."""
        job = batch.job
        ended = self.until_ready(batch)
        problem = job_problems.at_start(job, test, ended, time.monotonic() - batch.began)
        if problem:
            hopeless = not all(rank.ready and not rank.collection_errors for rank in job.ranks)
            batch.broken = problem if hopeless else None
        else:
            batch.began = time.monotonic()
            job.gate.open_for(test)
            problem = self.until_ended(batch, item, test)
        results = self.results(job, test)
        self.print_output(results)
        reports = combined.combine(item, results, problem)
        if problem:
            job.kill()
            batch.job = None
        elif len({result.status() for result in results}) > 1 and any(report.failed for report in reports):
            job.stop()
            batch.job = None
        return reports

    def until_ready(self, batch):
        """Waits until all ranks have found their tests. Whether the job has ended before."""
        limit = max(START_S, options.timeout_s(self.config))
        for seconds in sleeps():
            ended = batch.job.read()
            if ended or all(rank.ready for rank in batch.job.ranks) or time.monotonic() - batch.began > limit:
                return ended
            time.sleep(seconds)
        return False

    def until_ended(self, batch, item, test):
        """Waits for the end of a test on all ranks. What prevented it, or None."""
        request = item.stash[requested.REQUEST]
        limit = request.timeout_s or options.timeout_s(self.config)
        after_failure = min(AFTER_FAILURE_S, limit / 2)
        ranks = batch.job.ranks
        failed_at = None
        for seconds in sleeps():
            ended = batch.job.read()
            if all(test in rank.ended for rank in ranks):
                return None
            now = time.monotonic()
            if ended:
                return job_problems.crash(batch.job, test)
            if any(rank.over and test not in rank.ended for rank in ranks):
                return job_problems.left(batch.job, test)
            if any(test in rank.ended and rank.failed(test) for rank in ranks):
                failed_at = failed_at or now
            if now - batch.began > limit:
                return job_problems.hang(self.config, batch.job, test, f"did not end within {limit:g} s")
            if failed_at and now - failed_at > after_failure:
                why = f"failed, and did not end on all ranks within {after_failure:g} s after that"
                return job_problems.hang(self.config, batch.job, test, why)
            time.sleep(seconds)
        return None

    def results(self, job, test):
        """What each rank has reported of a test."""
        results = []
        for rank in job.ranks:
            result = combined.RankResult(rank.rank)
            for data in rank.reports.get(test, []):
                report = combined.restored(self.config, data)
                result.reports[report.when] = report
            result.finished = test in rank.ended
            result.output = rank.text(test) if test in rank.begun else ""
            results.append(result)
        return results

    def print_output(self, results):
        """With `-s`, shows what the ranks have printed, each line with its rank."""
        reporter = self.config.pluginmanager.getplugin("terminalreporter")
        if self.config.option.capture == "no" and reporter is not None:
            for result in results:
                for line in result.output.splitlines():
                    reporter.write_line(f"[{result.rank}] {line}")

    def finish(self, batch, item, reports):
        """Waits for the end of a job whose tests have all been run. Adds a report if it does not end well."""
        job = batch.job
        code = job.wait(max(END_S, options.timeout_s(self.config)))
        problem = job_problems.at_end(job, code)
        if problem:
            job.kill()
            results = self.results(job, len(batch.items) - 1 - batch.first)
            reports = [report for report in reports if report.when != "teardown"]
            reports.append(combined.failed_report(item, results, "teardown", [], *problem))
        batch.job = self.current = None
        return reports

    def stop_current(self):
        """Ends the job that still runs, if any: pytest stops early, or another file's turn has come."""
        if self.current and self.current.job:
            self.current.job.stop()
            self.current.job = None
        self.current = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        self.stop_current()

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self, report):
        data = yield
        failures = getattr(report, "longrepr", None)
        if isinstance(failures, combined.RankFailures) and data is not None:
            at = failures.reprcrash
            parts = [[title, str(trace)] for title, trace in failures.parts]
            data["evenkeel"] = {"parts": parts, "crash": [str(at.path), at.lineno, at.message]}
        return data

    @pytest.hookimpl(wrapper=True)
    def pytest_report_from_serializable(self, data):
        kept = data.pop("evenkeel", None)
        report = yield
        if kept and report is not None:
            crash = combined.CrashLine(*kept["crash"])
            report.longrepr = combined.RankFailures(kept["parts"], crash)
        return report

    def pytest_terminal_summary(self, terminalreporter):
        if self.jobs_started:
            terminalreporter.write_line(
                f"evenkeel: jobs started for tests on several ranks: {self.jobs_started}"
            )
        if self.refused:
            command = options.command_words(self.config)[0]
            terminalreporter.write_line(
                f"evenkeel: {self.refused} tests on several ranks were not started, because there is no "
                f"{command}. With --with-mpi they fail.",
                yellow=True,
            )
