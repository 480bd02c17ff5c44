"""`evenkeel exec --hosts` and `evenkeel run --hosts`: evenkeel starts processes on several hosts itself."""

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import mpis
from evenkeel_rig.paths import RSH
from evenkeel_rig.processes import signal_all
from on_hosts import assert_passed
from paths import EVENKEEL, ROOT, SHIMS
from processes import HUNG_S, heed_signals, until
from test_unknown_processes import RECORDS

ALL = "h0,h1,h2,h3"
SECRET = "it-can-be-recognized"
PLAIN = "in-the-clear"
# A remote shell that does not let anybody in.
REFUSES = "sh -c 'echo wrong key >&2; exit 5'"
# What a job does that is to be ended: one process, and one that has left its session.
SLEEPS = r"^\S*sleep 4711"
JOB = rf"{SLEEPS}|^\S*sh -c setsid"
ENDLESS = "setsid sleep 4711 & echo started; sleep 4711"


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def evenkeel(rig, command, *arguments, **options):
    """Runs evenkeel on h0, by the remote shell of the rig."""
    line = [EVENKEEL, command, *map(str, arguments)]
    return rig[0].run(line, cwd=ROOT, timeout=HUNG_S, check=False, **options)


def on_hosts(rig, *arguments, **options):
    return evenkeel(rig, "exec", "--hosts", ALL, *arguments, **options)


@contextlib.contextmanager
def begun(rig, *arguments, hosts=ALL, shell_words=("sh", "-c", ENDLESS), started=4):
    """A job that has begun on all hosts."""
    line = [EVENKEEL, "exec", "--hosts", hosts, *arguments, "--", *shell_words]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with rig[0].popen(line, cwd=ROOT, text=True, preexec_fn=heed_signals, **pipes) as process:
        try:
            for _ in range(started):
                assert "started" in process.stdout.readline()
            yield process
        finally:
            signal_all(client(rig[0]), signal.SIGKILL)  # `process` is the nsenter around it
            process.kill()


def found(host, pattern):
    return [pid for pid, words in host.processes().items() if re.search(pattern, words, re.DOTALL)]


def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def node(host):
    """The node process of a host, and the launcher, its child."""
    both = found(host, r"^\S*evenkeel host-node")
    launchers = [pid for pid in both if parent(pid) in both]
    return next(pid for pid in both if pid not in launchers), launchers[0]


def client(host):
    return found(host, r"^\S*evenkeel exec")


def test_a_command_runs_on_each_host_with_the_clients_environment(clean):
    script = 'echo "$(hostname) $PWD $PLANTED"; echo error >&2'
    for fanout in (1, 2, 16):
        done = on_hosts(clean, "--fanout", fanout, "--", "sh", "-c", script, env={"PLANTED": SECRET})
        lines = {f"[h{number}] h{number} {ROOT} {SECRET}" for number in range(4)}
        assert set(done.stdout.splitlines()) == lines, done.stdout + done.stderr
        assert set(done.stderr.splitlines()) == {f"[h{number}] error" for number in range(4)}
        assert done.returncode == 0
    done = on_hosts(clean, "--label", "no", "-n", 2, "--", "hostname")
    assert sorted(done.stdout.split()) == sorted(2 * ALL.split(","))
    raw = evenkeel(clean, "exec", "--hosts", "h1", "--", "printf", "no end")
    assert (raw.stdout, raw.returncode) == ("no end", 0)


def test_the_first_failure_is_the_exit_code(clean):
    script = "case $(hostname) in h2) exit 7;; *) exec sleep 4711;; esac"
    done = on_hosts(clean, "--", "sh", "-c", script)
    assert done.returncode == 7
    assert "the command on h2 (process" in done.stderr
    assert "exit code 7" in done.stderr
    script = 'case $(hostname) in h2) exit 7;; *) sleep 0.3; echo "$(hostname) went on";; esac'
    done = on_hosts(clean, "--keep-going", "--", "sh", "-c", script)
    assert done.returncode == 7
    assert len(re.findall("went on", done.stdout)) == 3
    done = on_hosts(clean, "--", "sh", "-c", "[ $(hostname) != h3 ] || kill -SEGV $$; exec sleep 4711")
    assert done.returncode == 128 + signal.SIGSEGV
    assert "on h3" in done.stderr
    assert "SIGSEGV" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hosts", "h1,nowhere", "--", "true"], ["host nowhere", "there is no host nowhere"]),
        (["--hosts", "h1,h2,h1", "--", "true"], ["host h1 is named twice"]),
        (["--hosts", "h1,h2", "--", "no-such-program"], ["host h1", "host h2", "PATH"]),
        (["--hosts", "h1,h2", "--", "/etc/passwd"], ["host h2", "execute"]),
        (["--hosts", "h1", "--chdir", "/no/such", "--", "true"], ["host h1", "/no/such"]),
        (["--hosts", "h1", "--remote-shell", "/no/shell", "--", "true"], ["host h1", "/no/shell"]),
        (["--hosts", "h1", "--remote-shell", REFUSES, "--", "true"], ["wrong key"]),
        (["--hosts=-oProxyCommand=x", "--", "true"], ["-oProxyCommand=x"]),
        (["--", "true"], ["--hosts"]),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(clean, arguments, words):
    done = evenkeel(clean, "exec", *arguments)
    assert done.returncode == 125
    assert done.stdout == ""
    said = done.stderr
    assert all(word in said for word in words), said
    assert all(line.startswith("evenkeel: ") for line in said.splitlines()), said


def test_a_host_of_another_kind_is_refused(clean):
    other = clean[0].path("/tmp/rig/other-kind")
    other.write_text(
        f'#!/bin/sh\nhost=$1; shift\nexec {RSH} $host "$(printf %s "$*" | sed \'s/uname -m/echo s390x/\')"\n'
    )
    other.chmod(0o755)
    done = evenkeel(clean, "exec", "--hosts", "h1", "--remote-shell", "/tmp/rig/other-kind", "--", "true")
    assert done.returncode == 125
    assert "host h1 is a machine of another kind (s390x" in done.stderr


def test_no_line_is_torn_and_no_byte_lost_beside_a_slow_reader(clean):
    script = "seq -f \"%.0f $(hostname) $(printf '%070d' 0)\" 40000"
    line = [EVENKEEL, "exec", "--hosts", ALL, "--fanout", 2, "--", "sh", "-c", script]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with clean[0].popen(list(map(str, line)), cwd=ROOT, text=True, **pipes) as process:
        until(lambda: len(client(clean[0])) > 0)
        time.sleep(0.5)  # the reader stands still: everything on the way fills up
        ours = [pid for host in clean.hosts for pid in found(host, "host-node|evenkeel exec")]
        largest = max(map(memory_kib, ours))
        lines = process.stdout.read().splitlines()
    assert process.returncode == 0
    seen = dict.fromkeys(ALL.split(","), 0)
    for line in lines:
        number, host, rest = re.fullmatch(r"\[h\d\] (\d+) (h\d) (0+)", line).groups()
        assert line.startswith(f"[{host}]")
        assert len(rest) == 70
        seen[host] += 1
        assert int(number) == seen[host], "in order"
    assert set(seen.values()) == {40000}
    assert largest < 64 * 1024, f"{largest} KiB in one process"


def memory_kib(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
    return 0


def test_what_is_typed_reaches_the_first_or_all(clean):
    typed = "".join(f"{number} {'x' * 60}\n" for number in range(40000))
    digest = hashlib.sha256(typed.encode()).hexdigest()
    done = on_hosts(clean, "--stdin", "all", "--fanout", 2, "--", "sha256sum", stdin=typed)
    assert done.stdout.count(digest) == 4, done.stdout + done.stderr
    done = on_hosts(clean, "--", "sha256sum", stdin=typed)
    assert f"[h0] {digest}" in done.stdout
    assert done.stdout.count(digest) == 1
    # A program that reads nothing, and one that stops reading, hold up no process.
    done = on_hosts(clean, "--stdin", "all", "--", "sh", "-c", "head -n 1 | cut -c 1", stdin=typed)
    assert sorted(done.stdout.splitlines()) == [f"[h{number}] 0" for number in range(4)]
    assert on_hosts(clean, "--stdin", "none", "--", "cat", stdin=typed).stdout == ""


def to_client(number):
    return lambda rig: signal_all(client(rig[0]), number)


def to_node(host, number):
    return lambda rig: signal_all([node(rig[host])[0]], number)


def kill_launcher(rig):
    signal_all([node(rig[2])[1]], signal.SIGKILL)


def kill_process(rig):
    signal_all(found(rig[3], r"^\S*sh -c setsid"), signal.SIGKILL)


# How a job can die: what is done, the exit code, what is said. Fanout 2: h0 starts h1, and h2 starts h3.
DEATHS = {
    "client killed": (to_client(signal.SIGKILL), -signal.SIGKILL, ""),
    "client terminated": (to_client(signal.SIGTERM), -signal.SIGTERM, ""),
    "client interrupted": (to_client(signal.SIGINT), -signal.SIGINT, ""),
    "client hung up": (to_client(signal.SIGHUP), -signal.SIGHUP, ""),
    "client stopped": (to_client(signal.SIGSTOP), 1, "has ended the job"),
    "node killed": (to_node(2, signal.SIGKILL), 1, "host h2 is lost"),
    "node below killed": (to_node(3, signal.SIGKILL), 1, "host h3 is lost"),
    "node terminated": (to_node(2, signal.SIGTERM), 1, "host h2 is lost"),
    "node stopped": (to_node(2, signal.SIGSTOP), 1, "h2 has not been heard of"),
    "launcher killed": (kill_launcher, 128 + signal.SIGKILL, "on h2 was killed"),
    "process killed": (kill_process, 128 + signal.SIGKILL, "on h3 .*SIGKILL"),
    "cable pulled": (lambda rig: rig[2].unplug(), 1, "h2 has not been heard of"),
}


@pytest.mark.parametrize("way", DEATHS)
def test_nothing_outlives_a_job_however_it_dies(clean, way):
    kill, code, sentence = DEATHS[way]
    before = {host.name: set(host.processes()) for host in clean.hosts}

    def left(pattern):
        return [pid for host in clean.hosts for pid in found(host, pattern) if pid not in before[host.name]]

    with begun(clean, "--fanout", 2) as process:
        until(lambda: len(left(SLEEPS)) == 8)
        since = time.monotonic()
        kill(clean)
        try:
            assert until(lambda: not left(JOB)), left(JOB)
            took = time.monotonic() - since
            if way == "client stopped":
                clean[0].thaw()  # nsenter stops itself after its child
            assert process.wait(timeout=HUNG_S) == code
            said = process.stderr.read()
            assert re.search(sentence, said), said
        finally:
            signal_all(left("host-node"), signal.SIGCONT)
            if way == "cable pulled":
                clean[2].plug_in()
    # 2 s of patience, and what a busy machine may add.
    assert took < 30, f"{took} s"


def test_who_is_slow_or_stopped_for_less_is_not_dead(clean):
    script = "echo started; sleep 2.5; echo lives"
    with begun(clean, "--fanout", 2, "--node-patience", 20000, shell_words=("sh", "-c", script)) as process:
        stopped = [*node(clean[2]), *client(clean[0])]
        signal_all(stopped, signal.SIGSTOP)
        time.sleep(1)
        signal_all(stopped, signal.SIGCONT)
        clean[0].thaw()  # nsenter stops itself after its child
        assert process.stdout.read().count("lives") == 4
        assert process.wait(timeout=HUNG_S) == 0


def test_nothing_secret_is_seen_on_the_network(clean):
    """Not what is in arguments, environment, input and output."""
    recorded = [host.path("/tmp/recorded") for host in clean.hosts]
    with contextlib.ExitStack() as stack:
        for host in clean.hosts:
            line = ["python3", "-c", RECORDS, "/tmp/recorded"]
            recorder = stack.enter_context(host.popen(line, stdout=subprocess.PIPE, text=True))
            stack.callback(lambda host=host: signal_all(found(host, "AF_PACKET"), signal.SIGKILL))
            assert "RECORDS" in recorder.stdout.readline()
        script = 'cat; echo "$PLANTED-of-environment $0"'
        arguments = ["--stdin", "all", "--fanout", 2, "--", "sh", "-c", script, f"{SECRET}-of-arguments"]
        done = on_hosts(clean, *arguments, env={"PLANTED": SECRET}, stdin=f"{SECRET}-of-input\n")
        assert done.stdout.count(f"{SECRET}-of-input") == 4
        assert done.stdout.count(f"{SECRET}-of-environment {SECRET}-of-arguments") == 4
        # The recorders do see what is not encrypted.
        speaks = f"import socket; s = socket.socket(2, 2); s.sendto(b'{PLAIN}', ('{clean[1].address}', 9))"
        clean[0].run(["python3", "-c", speaks])
        until(lambda: PLAIN.encode() in recorded[1].read_bytes())
    seen = b"".join(path.read_bytes() for path in recorded)
    assert len(seen) > 10_000, "the connections were recorded"
    assert PLAIN.encode() in seen
    assert SECRET.encode() not in seen
    for path in recorded:
        path.unlink()


def test_no_key_is_in_arguments_or_environments(clean):
    """A key has 64 hexadecimal digits. The number of a build is shorter."""
    with begun(clean, "--fanout", 2):
        seen = b""
        for host in clean.hosts:
            for pid in host.processes():
                with contextlib.suppress(OSError):
                    seen += Path(f"/proc/{pid}/cmdline").read_bytes()
                    seen += Path(f"/proc/{pid}/environ").read_bytes()
        assert b"host-node" in seen
        assert not re.search(rb"[0-9a-f]{64}", seen)


def test_evenkeel_is_sent_where_it_is_missing(clean):
    """Into a cache of the user's there, once; again if what is there is damaged; a full disk is named."""
    shell = clean[0].path("/tmp/rig/with-cache")
    shell.write_text(f'#!/bin/sh\nhost=$1; shift\nexec {RSH} $host "XDG_CACHE_HOME=/tmp/cache $*"\n')
    shell.chmod(0o755)
    clean[0].run(["cp", EVENKEEL, "/tmp/evenkeel-here"])
    line = ["/tmp/evenkeel-here", "exec", "--hosts", "h1", "--remote-shell", "/tmp/rig/with-cache", "--"]

    def run():
        return clean[0].run([*line, "hostname"], check=False, timeout=HUNG_S)

    def cached():
        files = list(clean[1].path("/tmp/cache/evenkeel").rglob("*"))
        return [path for path in files if path.is_file()]

    try:
        assert run().stdout == "h1\n"
        [file] = cached()
        written = file.stat().st_mtime_ns
        assert file.stat().st_size == EVENKEEL.stat().st_size
        assert run().stdout == "h1\n"
        assert file.stat().st_mtime_ns == written, "it is not sent again"
        os.truncate(file, 4096)
        assert run().stdout == "h1\n"
        [file] = cached()
        assert file.stat().st_size == EVENKEEL.stat().st_size, "what is damaged is replaced"
        clean[1].run(["rm", "-r", "/tmp/cache"])
        clean[1].run(["mkdir", "/tmp/cache"])
        clean[1].run(["mount", "-t", "tmpfs", "-o", "size=1m", "small", "/tmp/cache"])
        done = run()
        assert done.returncode == 125
        assert "host h1" in done.stderr
        assert "No space left" in done.stderr
        assert cached() == []
    finally:
        clean[1].run(["umount", "/tmp/cache"], check=False)
        clean[1].run(["rm", "-rf", "/tmp/cache"])
        clean[0].run(["rm", "/tmp/evenkeel-here", "/tmp/rig/with-cache"])


def run_ranks(rig, mpi, *arguments, program, options=()):
    environment = {"EVENKEEL_LIB": str(SHIMS)} | mpi.environment
    line = ["--launcher", "evenkeel", "--hosts", *options, "--", mpi.build(program), *arguments]
    return evenkeel(rig, "run", *line, env=environment)


@pytest.mark.in_turn(of=2)
def test_ranks_on_several_hosts_are_one_job(clean, mpi):
    """With their environment and shim; agents carry collectives where they are asked to."""
    nodes = "library" if mpi.name == "mpich4" else "agents"
    options = [ALL, "-n", 8, "--fanout", 2, "--nodes", nodes, "--node-patience", 20000]
    done = run_ranks(clean, mpi, "rounds=20", program="several_hosts.c", options=options)
    if mpi.family == "openmpi":
        assert "between hosts, ranks of Open MPI need its own launcher" in done.stderr
    assert_passed(done)
    assert "HOSTS 4 RANKS 8" in done.stdout
    assert "evenkeel: 8 ranks of" in done.stderr


@pytest.fixture
def mpich():
    """One library whose ranks evenkeel starts on several hosts."""
    both = [mpis.named(name) for name in ("mpich5", "mpich4")]
    installed = [mpi for mpi in both if not mpi.skip_reason()]
    return installed[0] if installed else pytest.skip("no MPICH is installed")


def test_a_rank_that_fails_ends_the_ranks_on_all_hosts(clean, mpich):
    """Rank 2 is on h1. The slots say so."""
    options = ["h0:2,h1:1,h2:1", "-n", 4, "--quiet"]
    sentence = r"rank 2 on h1 \(process \d+\) ended with exit code 9"
    done = run_ranks(clean, mpich, "exit alone", 2, 9, program="launch_cases.c", options=options)
    assert done.returncode == 9, done.stderr
    assert re.search(sentence, done.stderr)
    # MPICH's barrier may crash when a connection breaks, before h1 has said why it broke.
    done = run_ranks(clean, mpich, "exit", 2, 9, program="launch_cases.c", options=options)
    assert done.returncode in (9, 128 + signal.SIGSEGV), done.stderr
    assert re.search(sentence, done.stderr)
    done = run_ranks(clean, mpich, "abort", 3, 5, program="launch_cases.c", options=options)
    assert done.returncode == 5, done.stderr
    assert "rank 3 on h2 called MPI_Abort with code 5" in done.stderr


def test_what_needs_one_host_is_refused_on_several(clean, mpich):
    def refused(*options):
        done = run_ranks(clean, mpich, program="several_hosts.c", options=options)
        assert done.returncode == 125
        return done.stderr

    assert "--hosts gives them 3 in all" in refused("h0:2,h1:1", "-n", 4)
    assert "--share" in refused("h0,h1", "-n", 2, "--share")
    assert "--inject" in refused("h0,h1", "-n", 2, "--inject", "competitors=1")
