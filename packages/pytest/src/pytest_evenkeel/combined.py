"""Makes one result of what the ranks of a test report.

A test passes if it passes on every rank, and is skipped if it is skipped on every rank. If it fails on any
rank it has failed, and the failing ranks' tracebacks and output are shown, each apart. If it is marked as
expected to fail, one rank that fails is enough.
"""

import pytest

PHASES = ("setup", "call", "teardown")
STRICT_XPASS = "[XPASS(strict)]"


class CrashLine:
    """Where a test failed, as pytest's short summary shows it."""

    def __init__(self, path, lineno, message):
        self.path, self.lineno, self.message = path, lineno, message

    def __str__(self):
        return f"{self.path}:{self.lineno}: {self.message}"


class RankFailures:
    """The tracebacks of the ranks on which a test failed, one below the other; pytest prints it."""

    def __init__(self, parts, crash):
        self.parts = parts  # (title, a text or pytest's own representation of a traceback)
        self.reprcrash = crash

    def toterminal(self, tw):
        for title, trace in self.parts:
            tw.sep("- ", title)
            if hasattr(trace, "toterminal"):
                trace.toterminal(tw)
            else:
                tw.line(str(trace))

    def __str__(self):
        return "\n".join(f"- - {title} - -\n{trace}" for title, trace in self.parts)


def restored(config, data):
    """A report that a rank has written as JSON, which knows no tuples."""
    report = config.hook.pytest_report_from_serializable(config=config, data=dict(data))
    if isinstance(report.longrepr, list):
        report.longrepr = tuple(report.longrepr)
    report.sections = [tuple(section) for section in report.sections]
    report.user_properties = [tuple(pair) for pair in report.user_properties]
    return report


class RankResult:
    """What one rank has reported of a test: its reports by phase, and its output while the test ran."""

    def __init__(self, rank):
        self.rank = rank
        self.reports = {}
        self.output = ""
        self.finished = False

    def status(self):
        """One word for all phases but the teardown; "failed" too if only the setup failed."""
        report = self.reports.get("call") or self.reports.get("setup")
        if report is None or (report.passed and "call" not in self.reports):
            return "lost"
        expected = hasattr(report, "wasxfail")
        if report.skipped:
            return "xfailed" if expected else "skipped"
        if report.passed:
            return "xpassed" if expected else "passed"
        strict = isinstance(report.longrepr, str) and report.longrepr.startswith(STRICT_XPASS)
        return "strictly xpassed" if strict else "failed"


def names(ranks):
    """`rank 3`, `ranks 0 and 2`, `ranks 0-5 and 7`."""
    ranks, ranges = sorted(ranks), []
    for rank in ranks:
        if ranges and rank == ranges[-1][1] + 1:
            ranges[-1][1] = rank
        else:
            ranges.append([rank, rank])
    texts = [str(a) if a == b else f"{a} and {b}" if b == a + 1 else f"{a}-{b}" for a, b in ranges]
    joined = texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f" and {texts[-1]}"
    return f"rank {joined}" if len(ranks) == 1 else f"ranks {joined}"


def by_status(results):
    """Maps each status to the ranks that have it."""
    found = {}
    for result in results:
        found.setdefault(result.status(), []).append(result.rank)
    return found


def combine(item, results, problem=None):
    """The reports for pytest, one for each phase.

    `results`: a RankResult for each rank. `problem`: a sentence about a test that some ranks did not finish,
    with texts to show under titles: (sentence, [(title, text)]).
    """
    if problem:
        return failed_reports(item, results, problem)
    statuses = by_status(results)
    if "lost" in statuses:
        sentence = (
            f"evenkeel: {names(statuses['lost'])} left this test without a result, as pytest.exit() does"
        )
        return failed_reports(item, results, (sentence, []))
    if any(result.reports["setup"].failed for result in results):
        return [phase_report(item, results, "setup"), phase_report(item, results, "teardown")]
    if set(statuses) == {"skipped"} and all("call" not in result.reports for result in results):
        return [representative(item, results, "setup"), phase_report(item, results, "teardown")]
    if "call" not in results[0].reports and set(statuses) == {"xfailed"}:
        return [representative(item, results, "setup"), phase_report(item, results, "teardown")]
    return [
        phase_report(item, results, "setup", passed=True),
        call_report(item, results, statuses),
        phase_report(item, results, "teardown"),
    ]


def call_report(item, results, statuses):
    kinds = set(statuses)
    if "failed" in kinds:
        return phase_report(item, results, "call")
    if "xfailed" in kinds:  # that it passed on other ranks does not matter: it was expected to fail
        return chosen(item, results, "xfailed", "call")
    if "strictly xpassed" in kinds:
        return chosen(item, results, "strictly xpassed", "call")
    if len(kinds - {"xpassed"}) > 1:
        text = "; ".join(f"{status} on {names(ranks)}" for status, ranks in statuses.items())
        return failed_report(item, results, "call", [], f"evenkeel: the ranks do not agree: {text}")
    if kinds == {"skipped"}:
        return chosen(item, results, "skipped", "call")
    return representative(item, results, "call")


def chosen(item, results, status, when):
    """The report of the first rank with this status."""
    ranks = [result for result in results if result.status() == status]
    return representative(item, ranks, when)


def representative(item, results, when):
    """A report with the outcome of the first of these ranks, and the output of all."""
    source = results[0].reports.get(when) or results[0].reports["setup"]
    report = new_report(item, results, when, source.outcome, source.longrepr)
    if hasattr(source, "wasxfail"):
        report.wasxfail = source.wasxfail
    return report


def new_report(item, results, when, outcome, longrepr):
    reports = [result.reports[when] for result in results if when in result.reports]
    sections = [section for result in results for section in sections_of(result, when)]
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome=outcome,
        longrepr=longrepr,
        when=when,
        sections=sections,
        duration=max((report.duration for report in reports), default=0.0),
        user_properties=reports[0].user_properties if reports else [],
    )


def sections_of(result, when):
    """What a rank has printed and logged. Its output is shown once, with the phase that pytest shows."""
    report = result.reports.get(when)
    sections = list(report.sections) if report else []
    named = [(f"{title}, rank {result.rank}", text) for title, text in sections]
    shown_with = "call" if "call" in result.reports else "setup"
    if result.output.strip() and when == shown_with:
        named.insert(0, (f"Captured stdout and stderr, rank {result.rank}", result.output))
    return named


def phase_report(item, results, when, passed=False):
    """A report of one phase: failed if it failed on any rank."""
    failing = [] if passed else [r for r in results if when in r.reports and r.reports[when].failed]
    if when == "setup" and failing:  # the other ranks may have failed later, for want of these
        failing += [r for r in results if r not in failing and r.status() == "failed"]
    if failing:
        return failed_report(item, results, when, failing)
    return new_report(item, results, when, "passed", None)


def trace_of(result, when):
    """The traceback of a failed phase; of another one if that phase has not failed."""
    phases = [when, *(phase for phase in PHASES if phase != when)]
    reports = [result.reports[phase] for phase in phases if phase in result.reports]
    return next((report.longrepr for report in reports if report.failed), "no traceback")


def grouped(failing, when):
    """Failing ranks with equal tracebacks together: [(ranks, traceback)]."""
    groups = {}
    for result in failing:
        trace = trace_of(result, when)
        groups.setdefault(str(trace), ([], trace))[0].append(result.rank)
    return list(groups.values())


def failed_report(item, results, when, failing, sentence=None, extra=()):
    """A failed phase. `failing`: ranks with tracebacks; `sentence`: said first; `extra`: said last."""
    size = len(results)
    groups = grouped(failing, when)
    parts = [("evenkeel", sentence)] if sentence else []
    parts += [(f"{names(ranks)} of {size}", trace) for ranks, trace in groups]
    parts += extra
    path, line = item.location[0], item.location[1]
    crash = CrashLine(path, (line or 0) + 1, sentence or "")
    if groups:
        ranks, trace = groups[0]
        at = getattr(trace, "reprcrash", None)
        lines = str(trace).strip().splitlines() or [""]
        message = at.message if at else lines[-1]
        crash = CrashLine(
            getattr(at, "path", path), getattr(at, "lineno", line), f"{names(ranks)}: {message}"
        )
        if sentence:
            crash.message = f"{sentence} {crash.message}"
    shown = failing or results
    report = new_report(item, shown, when, "failed", RankFailures(parts, crash))
    for result in shown:
        title = f"Captured stdout and stderr, rank {result.rank}"
        if result.output.strip() and not any(title == section for section, _ in report.sections):
            report.sections.append((title, result.output))
    return report


def failed_reports(item, results, problem):
    """The reports of a test that some ranks did not finish."""
    sentence, extra = problem
    failing = [r for r in results if any(report.failed for report in r.reports.values())]
    unfinished = [result for result in results if not result.finished]
    report = failed_report(item, results, "call", failing, sentence, extra)
    known = {title for title, _ in report.sections}
    for result in unfinished:
        title = f"Captured stdout and stderr, rank {result.rank}"
        if result.output.strip() and title not in known:
            report.sections.append((title, result.output))
    return [
        new_report(item, [], "setup", "passed", None),
        report,
        new_report(item, [], "teardown", "passed", None),
    ]
