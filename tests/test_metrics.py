"""`evenkeel metrics`: served by HTTP, in a file, printed. The parsers of Prometheus' own client read it."""

import socket
import subprocess
import urllib.error
import urllib.request

import pytest

import processes
from hanging_jobs import where
from mpis import named
from paths import EVENKEEL
from processes import HUNG_S, until

prometheus_client = pytest.importorskip(
    "prometheus_client", reason="there is no prometheus_client in this venv"
)
from prometheus_client.openmetrics.parser import (  # noqa: E402  # after the skip
    text_string_to_metric_families as openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as text_format  # noqa: E402

COUNTERS = ["mpi_seconds", "cpu_seconds", "calls", "messages_sent", "messages_received"]
GAUGES = ["pending_requests", "in_mpi", "holds_up", "process_state"]


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


@pytest.fixture
def library():
    mpi = named("openmpi4")
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


def samples(text, parse=text_format):
    """(name, labels) to value, of all samples; a duplicate is an error."""
    found = {}
    for family in parse(text):
        assert family.documentation and family.type in ("gauge", "counter"), family
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found, sample
            found[key] = sample.value
    return found


def value(found, name, **labels):
    return found.get((f"evenkeel_{name}", frozenset((k, str(v)) for k, v in labels.items())))


def hang(mpi, watch, *arguments):
    """Runs a job whose rank 2 does not call MPI_Allreduce, until `watch(process)` is over."""
    failed = []

    def guarded(process):
        try:
            watch(process)
        except BaseException as error:
            failed.append(error)
        finally:
            processes.kill_all(process.token)

    mpi.run(mpi.build("hang.c"), 4, *(arguments or ["until="]), watch=guarded)
    if failed:
        raise failed[0]


class Exporter:
    """`evenkeel metrics` at a port that the kernel chooses."""

    def __init__(self, *arguments):
        line = [EVENKEEL, "metrics", "--listen", "127.0.0.1:0", *map(str, arguments)]
        self.process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
        self.said = self.process.stderr.readline()
        self.address = self.said.split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()

    def get(self, accept="text/plain", path="/metrics", method="GET"):
        address = self.address.removesuffix("/metrics") + path
        request = urllib.request.Request(address, headers={"Accept": accept}, method=method)
        with urllib.request.urlopen(request, timeout=HUNG_S) as answer:
            return answer.headers["Content-Type"], answer.read().decode()


def test_a_job_is_served_in_both_formats_and_its_counters_grow(library):
    def watch(process):
        with Exporter() as exporter:
            job = process.pid

            def held_up():
                found = samples(exporter.get()[1])
                return found if value(found, "rank_holds_up", job=job, rank=2) == 3 else None

            first = until(held_up)
            assert first and value(first, "job_ranks", job=job) == 4
            assert value(first, "job_deadlock", job=job) == 0
            for rank in range(4):
                labels = {"job": job, "rank": rank}
                assert all(value(first, f"rank_{name}_total", **labels) is not None for name in COUNTERS)
                assert value(first, "rank_in_mpi", **labels) == (rank != 2)
                assert value(first, "rank_messages_sent_total", **labels) >= 40  # before the hang
                states = ["running", "sleeping", "uninterruptible", "stopped", "traced", "exited"]
                assert sum(value(first, "rank_process_state", state=s, **labels) for s in states) == 1
            [info] = [
                labels
                for name, labels in first
                if name == "evenkeel_job_info" and ("job", str(job)) in labels
            ]
            assert dict(info)["library"].startswith("Open MPI") and "hang" in dict(info)["program"]

            def grown():
                kind, text = exporter.get("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
                assert kind.startswith("application/openmetrics-text; version=1.0.0")
                later = samples(text, openmetrics)
                waited = [
                    value(later, "rank_mpi_seconds_total", job=job, rank=rank)
                    - value(first, "rank_mpi_seconds_total", job=job, rank=rank)
                    for rank in range(4)
                ]
                return (later, waited) if waited[0] > 1 else None

            later, waited = until(grown)
            assert waited[2] == 0 and waited[1] > 0.5 and waited[3] > 0.5, waited
            assert {key for key in later if key[0].endswith("_total")} >= {
                key for key in first if key[0].endswith("_total") and ("job", str(job)) in key[1]
            }

    hang(library, watch)


def test_a_proved_deadlock_can_be_alerted_on(library):
    def watch(process):
        assert until(lambda: is_watched(process))
        with Exporter(process.pid) as exporter:
            assert until(lambda: value(samples(exporter.get()[1]), "job_deadlock", job=process.pid) == 1)

    hang(library, watch, "what=receives")


def is_watched(process):
    return where(process.pid) is not None


def test_a_file_is_written_whole_and_the_exporter_ends_with_its_job(library, tmp_path):
    written, told = tmp_path / "evenkeel.prom", tmp_path / "told"

    def watch(process):
        assert until(lambda: is_watched(process))
        line = [EVENKEEL, "metrics", str(process.pid), "--file", written, "--interval", "0.5"]
        exporter = subprocess.Popen(line)
        try:
            assert until(written.exists)
            assert value(samples(written.read_text()), "job_ranks", job=process.pid) == 4
            told.touch()
            assert exporter.wait(HUNG_S) == 0
        finally:
            exporter.kill()
            exporter.wait()
        assert samples(written.read_text()) == {}, "the job has ended"
        assert list(tmp_path.glob("evenkeel*")) == [written]

    hang(library, watch, f"until={told}")


def test_what_is_not_there_is_refused():
    with Exporter() as exporter:
        assert exporter.get(path="/")[1].startswith("The metrics")
        for path, method, code in [("/other", "GET", 404), ("/metrics", "POST", 405)]:
            with pytest.raises(urllib.error.HTTPError) as refused:
                exporter.get(path=path, method=method)
            assert refused.value.code == code
            refused.value.close()


def test_a_port_that_is_taken_is_refused_with_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        line = [EVENKEEL, "metrics", "--listen", address]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=HUNG_S)
    assert done.returncode == 125 and f"cannot serve metrics at {address}" in done.stderr, done.stderr
    assert done.stderr.startswith("evenkeel: ") and "--listen" in done.stderr


def test_no_job_of_that_number_is_refused_with_a_sentence():
    line = [EVENKEEL, "metrics", str(2**22 - 1), "--once"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=HUNG_S)
    assert done.returncode == 125 and "there is no process" in done.stderr
