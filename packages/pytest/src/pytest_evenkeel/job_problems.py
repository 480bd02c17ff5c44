"""Says what is wrong with a job: it does not start, crashes, hangs, or does not end well.

Each function gives a sentence and texts to show under titles, (sentence, [(title, text)]), or None.
"""

import subprocess

from pytest_evenkeel import options
from pytest_evenkeel.combined import names

# `evenkeel where` says which call each rank of a job is in; it gets this long.
WHERE_S = 20

# What `evenkeel run` says before it ends a job.
DEADLOCK = (
    "evenkeel: the job is in a deadlock: some of its ranks wait for what can never come. The job is ended"
)


def at_start(job, test, ended, waited_s):
    """A job that cannot run a test: its ranks did not start, or did not find it."""
    ranks = job.ranks
    lacking = [rank.rank for rank in ranks if test in rank.missing]
    broken = [rank for rank in ranks if rank.collection_errors]
    if broken:
        texts = [(f"rank {rank.rank}", "\n".join(rank.collection_errors)) for rank in broken]
        return f"evenkeel: {names(r.rank for r in broken)} could not load the tests", texts
    if lacking:
        return f"evenkeel: {names(lacking)} did not find this test, and the process that started them did", []
    unready = [rank for rank in ranks if not rank.ready]
    if ended:
        sentence = f"evenkeel: the job ended before its ranks could run this test, {code_text(job)}"
        return sentence, launcher_part(job) + [
            (f"rank {r.rank}", r.text()) for r in ranks if r.text().strip()
        ]
    if unready:
        begun = [rank.rank for rank in ranks if rank.pid]
        sentence = (
            f"evenkeel: the job of {len(ranks)} ranks did not start within {waited_s:.0f} s; "
            f"{names(begun) if begun else 'no rank'} had begun. The job was ended"
        )
        return sentence, launcher_part(job)
    return None


def code_text(job):
    code = job.process.returncode
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"


def launcher_part(job):
    text = job.launcher_text()
    return [("the launcher", text)] if text.strip() else []


def progress(job, test):
    """Which ranks have ended a test and which have not."""
    ended = [rank.rank for rank in job.ranks if test in rank.ended]
    failed = [rank.rank for rank in job.ranks if test in rank.ended and rank.failed(test)]
    running = [rank.rank for rank in job.ranks if test not in rank.ended]
    well = [rank for rank in ended if rank not in failed]
    parts = [f"{names(failed)} had failed"] if failed else []
    parts += [f"{names(well)} had ended it"] if well else []
    parts += [f"{names(running)} had not ended it"] if running else []
    return "; ".join(parts)


def fatal_line(text):
    """The line in which Python says that the process dies of a signal, or ''."""
    start = text.find("Fatal Python error")
    return text[start:].splitlines()[0] if start >= 0 else ""


def crash(job, test):
    """The job has ended within a test."""
    if explained := job.launcher_text(DEADLOCK):
        sentence = f"evenkeel: this test is in a deadlock: {progress(job, test)}. The job was ended"
        return sentence, [("evenkeel run --deadlock end", explained)]
    deaths = {rank.rank: fatal_line(rank.text(test)) for rank in job.ranks if test not in rank.ended}
    dead = [rank for rank, line in deaths.items() if line]
    died = f" ({names(dead)}: {deaths[dead[0]]})" if dead else ""
    sentence = f"evenkeel: the job ended within this test, {code_text(job)}{died}: {progress(job, test)}"
    return sentence, launcher_part(job)


def left(job, test):
    """Ranks whose pytest has ended before this test or in it."""
    gone = [rank for rank in job.ranks if rank.over and test not in rank.ended]
    sentence = (
        f"evenkeel: pytest has ended on {names(rank.rank for rank in gone)} before it could end this test"
    )
    return sentence, [(f"rank {rank.rank}", rank.text()) for rank in gone if rank.text().strip()]


def hang(config, job, test, why):
    """A test that has not ended in time; its ranks are asked for their stacks."""
    job.ask_for_stacks([rank.rank for rank in job.ranks if test not in rank.ended])
    sentence = f"evenkeel: this test {why}: {progress(job, test)}. The job was ended"
    return sentence, where(config, job)


def where(config, job):
    """What `evenkeel where` says of the job, if this evenkeel has that command."""
    program = options.find_program("evenkeel")
    if program is None or options.launch_line(config, 1)[0] != program:
        return []
    try:
        known = subprocess.run(
            [program, "where", "--help"], capture_output=True, text=True, timeout=WHERE_S, check=False
        )
        if known.returncode:
            return []
        line = [program, "where", str(job.process.pid)]
        line += ["--stacks"] if "--stacks" in known.stdout else []
        said = subprocess.run(line, capture_output=True, text=True, timeout=WHERE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [("evenkeel where", said.stdout + said.stderr)]


def at_end(job, code):
    """A job whose tests have all ended, and which itself has not ended, or not well."""
    if code == 0:
        return None
    what = (
        "did not end after its last test and was ended" if code is None else f"ended badly, {code_text(job)}"
    )
    sentence = f"evenkeel: the job {what}, although all its tests were done"
    return sentence, launcher_part(job) + [
        (f"rank {r.rank}", r.text()[-2000:]) for r in job.ranks if r.text().strip()
    ]
