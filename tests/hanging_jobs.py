"""Jobs that hang on purpose, and what `evenkeel where` says of them."""

import json
import re
import subprocess

import processes
from paths import EVENKEEL
from processes import HUNG_S, until


def command(*arguments):
    line = [EVENKEEL, *map(str, arguments)]
    return subprocess.run(
        line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HUNG_S, check=False
    )


def where(pid, *options):
    """What is said about a job; None if it cannot be looked at, as before its MPI_Init and after its end."""
    done = command("where", pid, "--json", *options)
    return json.loads(done.stdout) if done.returncode == 0 else None


def found(seen, kind):
    return [finding for finding in (seen or {}).get("findings", []) if finding["kind"] == kind]


def standings(seen):
    """Which rank is in which call, or outside."""
    ranks = (seen or {}).get("ranks", [])
    return [(rank["rank"], rank["standing"], rank.get("call", {}).get("name")) for rank in ranks]


def wait_until_said(process, kind, pattern, least=1):
    """The first finding of this kind whose sentence matches, and what was seen with it.

    Ranks come to where they hang one after the other: two looks must find them in the same calls, and at
    least so many findings of this kind.
    """
    last = []

    def matching():
        seen = where(process.pid)
        is_settled = standings(seen) == last
        last[:] = standings(seen)
        findings = found(seen, kind)
        for finding in findings if is_settled and len(findings) >= least else []:
            if re.search(pattern, finding["sentence"]):
                return finding, seen
        return process.poll() is not None

    answer = until(matching)
    assert answer and answer is not True, (
        f"the job has ended, or it was not said {pattern!r}: {where(process.pid)}"
    )
    return answer


def hang(mpi, *arguments, kind, pattern, ranks=4, then=None, program="hang.c", least=1, **options):
    """Runs a job that hangs until it is said why. `then(process)`: what ends it, in place of a kill."""
    said = []

    def watch(process):
        said.append(wait_until_said(process, kind, pattern, least))
        said.append(command("where", process.pid).stdout)
        if then:
            then(process)
        else:
            processes.kill_all(process.token)

    outcome = mpi.run(mpi.build(program), ranks, *arguments, watch=watch, **options)
    (finding, seen), text = said
    sentence = " ".join(finding["sentence"].split())
    assert sentence[:60] in " ".join(text.split()), text
    return finding, seen, outcome
