"""`--send` and `--send-program`: files that every host is sent before a job starts there."""

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
from paths import EVENKEEL, SHIMS
from processes import HUNG_S, until
from test_jobs_on_hosts import node

SHELL = "/tmp/rig/with-cache"
CACHE = "/tmp/cache"
KEPT = f"{CACHE}/evenkeel/files"
JOBS = f"{CACHE}/evenkeel/jobs"
HERE = "/tmp/here"  # on h0 alone
OTHERS = "h1,h2,h3"
MIB = 1 << 20
BIG = 4 * MIB
SAYS = 'echo "$(sha256sum <"$1") $1"'


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


@pytest.fixture
def rig_with_caches(clean):
    """Each host has a cache of its own; files to send are on h0 alone."""
    shell = clean[0].path(SHELL)
    shell.write_text(f'#!/bin/sh\nhost=$1; shift\nexec {RSH} $host "XDG_CACHE_HOME={CACHE} $*"\n')
    shell.chmod(0o755)
    clean[0].path(HERE).mkdir()
    yield clean
    for host in clean.hosts:
        host.run(["umount", CACHE], check=False)
        host.run(["rm", "-rf", CACHE, HERE, "/tmp/evenkeel-0"])
    clean[0].run(["rm", SHELL])


def evenkeel(rig, command, hosts, *arguments, **options):
    line = [EVENKEEL, command, "--hosts", hosts, "--remote-shell", SHELL, "--chdir", "/tmp"]
    return rig[0].run([*line, *map(str, arguments)], cwd=HERE, timeout=HUNG_S, check=False, **options)


def execute(rig, *arguments, hosts=OTHERS):
    done = evenkeel(rig, "exec", hosts, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_big_file(rig, name="big"):
    content = os.urandom(BIG)
    rig[0].path(f"{HERE}/{name}").write_bytes(content)
    return content


def kept(host):
    return [path for path in host.path(KEPT).glob("*") if path.is_file()]


def jobs(host):
    return list(host.path(JOBS).glob("*"))


def received(host):
    """Bytes that have come over the network."""
    lines = host.run(["cat", "/proc/net/dev"]).stdout.splitlines()
    counts = [line.split(":")[1].split() for line in lines if ":" in line and "lo:" not in line]
    return sum(int(count[0]) for count in counts)


def test_program_libraries_and_files_are_sent_once(rig_with_caches):
    rig, folder = rig_with_caches, rig_with_caches[0].path(HERE)
    (folder / "lib").mkdir()
    (folder / "lib.c").write_text("int number(void) { return 4711; }\n")
    main = 'int main(int n, char **words) { printf("%d %s\\n", number(), words[n - 1]); }'
    source = f"#include <stdio.h>\nint number(void);\n{main}\n"
    (folder / "main.c").write_text(source)
    for line in (
        "cc -shared -fPIC lib.c -o lib/libnumber.so",
        "cc main.c -Llib -lnumber -Wl,-rpath,$ORIGIN/lib -o app",
    ):
        rig[0].run(line.split(), cwd=HERE)
    make_big_file(rig)
    for fanout, is_first in ((2, True), (16, False)):
        before = received(rig[1])
        out = execute(rig, "--fanout", fanout, "--send-program", "--send", "big", "--", "./app", "big")
        lines = [rf"\[h{n}\] 4711 {JOBS}/\S+/files/big" for n in (1, 2, 3)]
        assert all(re.search(line, out) for line in lines), out
        assert (received(rig[1]) - before > BIG) == is_first
    for host in rig.hosts[1:]:
        assert len(kept(host)) == 3
        assert jobs(host) == []


def test_a_kept_file_that_is_damaged_is_sent_again(rig_with_caches):
    rig = rig_with_caches
    content = make_big_file(rig)
    command = ("--send", "big", "--", "sh", "-c", SAYS, "sh", "big")
    first = execute(rig, *command, hosts="h1")
    [file] = kept(rig[1])
    damaged = bytearray(content)
    damaged[BIG // 2] ^= 1
    file.chmod(0o700)
    file.write_bytes(damaged)
    assert execute(rig, *command, hosts="h1").split()[0] == first.split()[0]
    [file] = kept(rig[1])
    assert file.read_bytes() == content


def test_an_empty_file_behind_a_long_one_goes_down_the_tree(rig_with_caches):
    rig = rig_with_caches
    make_big_file(rig)
    rig[0].path(f"{HERE}/empty").write_bytes(b"")
    options = ["--fanout", 1, "--send", "big", "--send", "empty"]
    out = execute(rig, *options, "--", "sh", "-c", 'wc -c <"$1"', "sh", "empty")
    assert sorted(out.splitlines()) == [f"[h{n}] 0" for n in (1, 2, 3)]


def test_a_job_may_change_its_files_and_others_do_not_see_it(rig_with_caches):
    rig = rig_with_caches
    rig[0].path(f"{HERE}/data").write_text("as it was")
    command = ("--send", "data", "--", "sh", "-c", 'cat "$1"; echo changed >>"$1"', "sh", "data")
    for _ in range(2):
        assert execute(rig, *command, hosts="h1") == "as it was"
    # Programs are shared, and stay as they are; their mode is put right.
    rig[0].path(f"{HERE}/job").write_text('#!/bin/sh\nchmod 400 "$0"\necho ran\n')
    rig[0].path(f"{HERE}/job").chmod(0o755)
    for _ in range(2):
        assert execute(rig, "--send-program", "--", "./job", hosts="h1") == "ran\n"


def test_a_link_that_another_user_has_planted_is_not_followed(rig_with_caches):
    rig = rig_with_caches
    rig[1].run(["mkdir", "-m", "777", CACHE])
    rig[1].run(["mkdir", "-p", "/tmp/own/files"])
    rig[1].path("/tmp/own/files/precious").write_text("x")
    os.utime(rig[1].path("/tmp/own/files/precious"), (0, 0))
    rig[1].run(["ln", "-s", "/tmp/own", "/tmp/evenkeel-0"])
    rig[0].path(f"{HERE}/data").write_text("sent")
    try:
        out = execute(rig, "--send", "data", "--", "sh", "-c", 'cat "$0"; echo $0', "data", hosts="h1")
        assert re.fullmatch(r"sent/dev/shm/evenkeel-0/\S+\n", out)
        assert rig[1].path("/tmp/own/files/precious").exists()
        assert not rig[1].path("/tmp/own/jobs").exists()
        assert rig[1].run(["find", "/dev/shm/evenkeel-0", "-type", "f"]).stdout == "", (
            "nothing stays in memory"
        )
    finally:
        rig[1].run(["rm", "-rf", "/tmp/own", "/dev/shm/evenkeel-0"])


def test_a_full_disk_refuses_the_job_and_hosts_behind_it_do_not_hang(rig_with_caches):
    rig = rig_with_caches
    make_big_file(rig)
    rig[1].run(["mkdir", CACHE])
    rig[1].run(["mount", "-t", "tmpfs", "-o", "size=1m", "small", CACHE])
    done = evenkeel(rig, "exec", OTHERS, "--fanout", 1, "--send", "big", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (125, "")
    assert re.search(r"host h1 cannot be sent big: No space left on device", done.stderr), done.stderr
    assert re.search(r"host h3 cannot be sent big: the host that it comes from", done.stderr), done.stderr
    assert kept(rig[1]) == [] == jobs(rig[1])


def test_a_file_that_changes_while_it_is_sent_refuses_the_job(rig_with_caches):
    """h1's shell takes a second, and the file has been read for its hash by then."""
    rig = rig_with_caches
    make_big_file(rig)
    shell = rig[0].path(SHELL)
    shell.write_text(shell.read_text().replace("exec", f"echo >{HERE}/begun; sleep 1; exec"))
    line = [EVENKEEL, "exec", "--hosts", "h1", "--remote-shell", SHELL, "--chdir", "/tmp", "--send", "big"]
    line += ["--", "true"]
    with rig[0].popen(line, cwd=HERE, stderr=subprocess.PIPE, text=True) as process:
        until(rig[0].path(f"{HERE}/begun").exists)
        with rig[0].path(f"{HERE}/big").open("r+b") as file:
            file.write(b"other")
        assert "big: it has changed while it was sent" in process.stderr.read()
    assert process.returncode == 125
    assert kept(rig[1]) == []


def test_another_folder_is_taken_if_no_program_can_run_from_the_cache(rig_with_caches):
    rig = rig_with_caches
    rig[1].run(["mkdir", CACHE])
    rig[1].run(["mount", "-t", "tmpfs", "-o", "noexec", "none", CACHE])
    rig[2].run(["mkdir", "-m", "777", CACHE])
    rig[0].path(f"{HERE}/job").write_text("#!/bin/sh\necho $0\n")
    rig[0].path(f"{HERE}/job").chmod(0o755)
    out = execute(rig, "--send-program", "--", "./job")
    assert re.search(r"\[h1\] /tmp/evenkeel-0/jobs/", out), out
    assert re.search(r"\[h2\] /tmp/evenkeel-0/jobs/", out), "other users could write to the cache"
    assert re.search(rf"\[h3\] {JOBS}/", out), out


def test_what_a_killed_node_left_is_removed_by_the_next_job(rig_with_caches):
    rig = rig_with_caches
    make_big_file(rig)
    line = [EVENKEEL, "exec", "--hosts", "h1", "--remote-shell", SHELL, "--chdir", "/tmp", "--send", "big"]
    line += ["--", "sleep", "4711"]
    with rig[0].popen(line, cwd=HERE, stderr=subprocess.DEVNULL):
        until(lambda: any(re.match(r"\S*sleep 4711", words) for words in rig[1].processes().values()))
        signal_all([node(rig[1])[0]], signal.SIGKILL)
    assert len(jobs(rig[1])) == 1
    execute(rig, "--send", "big", "--", "sleep", "0.2", hosts="h1")
    until(lambda: jobs(rig[1]) == [])
    # What has not been used for long is removed, too.
    [file] = kept(rig[1])
    long_ago = time.time() - 15 * 24 * 3600
    os.utime(file, (long_ago, long_ago))
    rig[0].path(f"{HERE}/small").write_text("x")
    execute(rig, "--send", "small", "--", "sleep", "0.2", hosts="h1")
    until(lambda: [path.stat().st_size for path in kept(rig[1])] == [1])


def test_what_cannot_be_sent_is_refused_by_a_sentence(rig_with_caches):
    rig = rig_with_caches
    for line, sentence in (
        (("--send", "missing", "--", "true"), "cannot send missing to the hosts: No such file"),
        (("--send", HERE, "--", "true"), f"cannot send {HERE} to the hosts: it is a folder"),
        (("--send-program", "--", "./missing"), "missing"),
    ):
        done = evenkeel(rig, "exec", "h1", *line)
        assert done.returncode != 0
        assert sentence in done.stderr


def test_ranks_run_a_program_that_only_this_host_has(rig_with_caches):
    rig = rig_with_caches
    mpi = mpis.named("mpich4")
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    rig[0].run(["cp", mpi.build("several_hosts.c"), f"{HERE}/ranks"])
    rig[0].run(["cp", "-r", SHIMS, f"{HERE}/shims"])
    # Between hosts this library hangs in MPI_Finalize now and then, also without evenkeel.
    options = ["-n", 3, "--launcher", "evenkeel", "--send-program"]
    environment = {"EVENKEEL_LIB": f"{HERE}/shims", "EVENKEEL_NODE_PATIENCE_MS": "20000"}
    done = evenkeel(rig, "run", "h1", *options, "--", "./ranks", "rounds=20", env=environment)
    assert_passed(done)
    assert "HOSTS 1 RANKS 3" in done.stdout
    assert "evenkeel: 3 ranks of" in done.stderr
    assert any(Path(path).stat().st_size == mpi.shim.stat().st_size for path in kept(rig[1])), (
        "the shim is sent"
    )
    line = [EVENKEEL, "run", "-n", "1", "--send-program", "--", f"{HERE}/ranks"]
    done = rig[0].run(line, check=False, env=environment)
    assert "--send and --send-program here: it needs --launcher evenkeel and --hosts" in done.stderr
