"""mpi4py's own test suite, from its source package: what passes without evenkeel passes with it.

`make test` runs the modules that have to do with collectives, communicators, requests and operators; with
EVENKEEL_TEST_MPI4PY=all, the whole suite. The run without evenkeel is kept in build/ per library and version."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile

import pytest

import mpis

VERSION = "4.1.2"
SOURCE = mpis.ROOT / "build" / "mpi4py-src"
MODULES = [
    "test_cco_buf",
    "test_cco_buf_inter",
    "test_cco_nb_buf",
    "test_cco_nb_vec",
    "test_cco_ngh_buf",
    "test_cco_obj",
    "test_cco_pr_buf",
    "test_cco_vec",
    "test_comm",
    "test_comm_topo",
    "test_grequest",
    "test_request",
    "test_op",
    "test_attributes",
    "test_ulfm",
]


def suite():
    """The directory of the tests."""
    unpacked = SOURCE / f"mpi4py-{VERSION}"
    if not unpacked.exists():
        SOURCE.mkdir(parents=True, exist_ok=True)
        archives = list(SOURCE.glob(f"mpi4py-{VERSION}.tar.gz"))
        if not archives:
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-binary",
                    "mpi4py",
                    "--no-deps",
                    "--dest",
                    str(SOURCE),
                    f"mpi4py=={VERSION}",
                ],
                capture_output=True,
                text=True,
            )
            archives = list(SOURCE.glob(f"mpi4py-{VERSION}.tar.gz"))
            if not archives:
                pytest.skip(
                    f"the source package of mpi4py {VERSION} cannot be had: {done.stderr.strip()[-200:]}"
                )
        with tarfile.open(archives[0]) as archive:
            archive.extractall(SOURCE)
    return unpacked / "test"


def outcomes(text):
    """Verdict per test and number of ranks that gave it, from the verbose output of all ranks."""
    found = {}
    for name, verdict in re.findall(
        r"^(?:\s*\d+@\S+ )?(test\w+ \([\w.]+\)).*?\.\.\. (ok|FAIL|ERROR|skipped)", text, re.M
    ):
        found.setdefault(name, []).append(verdict)
    return found


def run_suite(mpi, ranks, modules, shim, timeout, report=None):
    """Each rank writes its own output file: verdicts of several ranks in one stream run into each other."""
    tests = suite()
    logs = mpis.BUILD / mpi.name / f"mpi4py-{ranks}-{'with' if shim else 'without'}"
    logs.mkdir(parents=True, exist_ok=True)
    for old in logs.iterdir():
        old.unlink()
    rank = "$OMPI_COMM_WORLD_RANK" if mpi.family == "openmpi" else "$PMI_RANK"
    without = " -e util_sync" if mpi.name == "mpich4" and ranks > 1 else ""
    include = " ".join(f"-i {m}" for m in modules)
    # Not test_spawn: on few cores Open MPI's own run of it hangs now and then. test_dynproc does with
    # ports what it does. Nor test_util_sync under MPICH 4.0: its locks, built on windows, hang there by
    # themselves among several ranks.
    line = f'cd "$0" && exec "$1" main.py -v --no-threads {include} -e spawn{without} > {logs}/{rank} 2>&1'
    program = ["sh", "-c", line, str(tests), mpi.python]
    # With evenkeel too: windows and messages are the library's, and default MPICH spins at them.
    polite = mpis.POLITE_MPICH if mpi.family == "mpich" else {}
    outcome = mpi.run(program, ranks, shim=shim, timeout=timeout, report=report, env=mpi.python_env | polite)
    verdicts = {}
    for r in range(ranks):
        path = logs / str(r)
        for name, v in outcomes(path.read_text(errors="replace") if path.exists() else "").items():
            verdicts[f"{r}: {name}"] = v[-1]
    return outcome, verdicts, logs


def baseline(mpi, ranks, modules, timeout):
    version = subprocess.run(
        [mpi.python, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"],
        capture_output=True,
        text=True,
        env=os.environ
        | mpi.python_env
        | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    ).stdout
    key = hashlib.sha256(f"3 {version} {VERSION} {ranks} {modules}".encode()).hexdigest()[:16]
    kept = mpis.BUILD / mpi.name / f"mpi4py-{ranks}-{key}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    outcome, verdicts, _ = run_suite(mpi, ranks, modules, False, timeout)
    found = {"code": outcome.code, "verdicts": verdicts}
    if outcome.code is not None:  # a run that was cut short says too little to be kept
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    return found


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_mpi4py_suite(mpi, ranks, report):
    if not mpi.python:
        pytest.skip(f"there is no mpi4py for {mpi.name} here")
    everything = os.environ.get("EVENKEEL_TEST_MPI4PY") == "all"
    if not everything and mpi.name in ("openmpi4", "mpich4") and ranks != 2:
        pytest.skip(
            "mpi4py's tests under Debian's libraries run on 2 ranks; on 1, 3 and 5 with EVENKEEL_TEST_MPI4PY=all"
        )
    modules = sorted(p.stem for p in suite().glob("test_*.py")) if everything else MODULES
    timeout = 1500 if everything else 240
    without = baseline(mpi, ranks, modules, timeout)
    passed = {name for name, verdict in without["verdicts"].items() if verdict == "ok"}
    assert passed, f"no test passed without evenkeel (exit code {without['code']})"
    outcome, verdicts, logs = run_suite(mpi, ranks, modules, True, timeout, report)
    lost = sorted(name for name in passed if verdicts.get(name) != "ok")
    tails = (
        "\n".join(
            f"--- rank {p.name}\n{p.read_text(errors='replace')[-1500:]}" for p in sorted(logs.iterdir())
        )
        if lost
        else ""
    )
    assert not lost, (
        f"{len(lost)} of {len(passed)} tests no longer pass, {lost[:20]}; exit code {outcome.code}\n{outcome.err[-2000:]}{tails}"
    )
    if ranks > 1:
        assert outcome.calls("allreduce") > 100, "evenkeel took no part"
