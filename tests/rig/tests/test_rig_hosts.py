"""Virtual hosts are hosts: each has a name, a network, memory and files of its own; cables can be pulled; nothing outlives a rig."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from evenkeel_rig import Refusal, Rig
from evenkeel_rig.network import Shape, address
from evenkeel_rig.places import RSH
from evenkeel_rig.rig import state

HERE = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture
def rig(rig_of_four):
    yield rig_of_four
    rig_of_four.part()
    rig_of_four.lose(0)
    for host in rig_of_four.hosts:
        host.plug_in()


def reaches(host, other, tries=1):
    """How many of so many pings are answered."""
    script = f"""
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.15)
got = 0
for i in range({tries}):
    s.sendto(b'%d' % i, ('{address(other.index)}', 7))
    try:
        got += s.recv(64) == b'%d' % i
    except OSError:
        pass
print(got)
"""
    return int(host.run([sys.executable, "-c", script]).stdout)


ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('0.0.0.0', 7))
print('ready', flush=True)
while True:
    data, who = s.recvfrom(64)
    s.sendto(data, who)
"""


@pytest.fixture
def echo(rig):
    """Answers at port 7 of h1 and h2."""
    servers = [rig[i].popen([sys.executable, "-c", ECHO], stdout=subprocess.PIPE) for i in (1, 2)]
    for server in servers:
        server.stdout.readline()
    yield
    for host, server in zip((rig[1], rig[2]), servers):
        for pid, words in host.processes().items():
            if "recvfrom" in words:
                os.kill(pid, signal.SIGKILL)
        server.wait()
        server.stdout.close()


def test_each_has_its_own(rig):
    for host in rig.hosts:
        host.run(["sh", "-c", "hostname > /tmp/mine; hostname > /dev/shm/mine; ipcmk -Q > /dev/null"])
    for host in rig.hosts:
        assert (
            host.run(["cat", "/tmp/mine", "/dev/shm/mine", "/proc/sys/kernel/hostname"]).stdout.split()
            == [host.name] * 3
        )
        assert host.run(["sh", "-c", "ipcs -q | grep -c 0x"]).stdout.strip() == "1"
        assert host.run(["sh", "-c", "ls /sys/class/net"]).stdout.split() == ["eth0", "lo"]
    assert not pathlib.Path("/tmp/mine").exists() and not pathlib.Path("/dev/shm/mine").exists()


def test_names_are_known_everywhere(rig):
    for host in rig.hosts:
        assert host.run(["getent", "hosts", "h3"]).stdout.split() == [address(3), "h3"]


def test_rsh_is_a_login_on_another_host(rig):
    done = rig[0].run(
        [RSH, "-x", "h2", "hostname;", "echo $LD_PRELOAD$SECRET; pwd"], env={"SECRET": "leaked"}
    )
    assert done.stdout.split() == ["h2", os.environ.get("HOME", "/")]
    assert rig[0].run([RSH, "h2", "exit 7"], check=False).returncode == 7
    gone = rig[0].run([RSH, "h9", "true"], check=False)
    assert gone.returncode == 255 and "no host h9" in gone.stderr


def test_a_pulled_cable(rig, echo):
    assert reaches(rig[0], rig[1]) == 1
    rig[1].unplug()
    assert reaches(rig[0], rig[1]) == 0
    assert reaches(rig[0], rig[2]) == 1
    rig[1].plug_in()
    assert reaches(rig[0], rig[1], tries=3) >= 1


def test_a_partition(rig, echo):
    rig.part({0, 1}, {2, 3})
    assert reaches(rig[0], rig[1]) == 1 and reaches(rig[3], rig[2]) == 1
    assert reaches(rig[0], rig[2]) == 0 and reaches(rig[3], rig[1]) == 0
    rig.part()
    assert reaches(rig[0], rig[2]) == 1


def test_loss(rig, echo):
    """Of 40 questions and answers at 30% loss each way about half come through; all or none would be one in 10^12."""
    rig.lose(30)
    assert 0 < reaches(rig[0], rig[1], tries=40) < 40
    rig.lose(0)
    assert reaches(rig[0], rig[1], tries=5) == 5


TAKE = "import socket; s=socket.create_server(('', 9)); print('ready', flush=True); c=s.accept()[0]\nwhile c.recv(1<<16): pass\nc.send(b'!')"
GIVE = "import socket, time; c=socket.create_connection(('{}', 9)); t=time.monotonic(); c.sendall(bytes({})); c.shutdown(1); c.recv(1); print(time.monotonic()-t)"


def test_a_rate_limit(rig):
    """2 MB at 40 Mbit/s take 0.4 s, less what the bucket holds; without a limit they take a hundredth of that."""
    rig.shape(Shape(rate_mbit=40))
    try:
        taker = rig[1].popen([sys.executable, "-c", TAKE], stdout=subprocess.PIPE)
        taker.stdout.readline()
        seconds = float(rig[0].run([sys.executable, "-c", GIVE.format(address(1), 2_000_000)]).stdout)
        taker.wait()
        taker.stdout.close()
    finally:
        rig.shape(Shape())
    assert seconds > 0.3


def test_what_the_kernel_lacks_is_said(rig):
    if rig.has_netem():
        rig.shape(Shape(delay_ms=5))
        rig.shape(Shape())
    else:
        with pytest.raises(Refusal, match="netem"):
            rig.shape(Shape(delay_ms=5))


def test_frozen_and_dead_hosts():
    """A frozen host goes on where it was; one without power ends, and the others do not."""
    try:
        rig = Rig(2, shared=[HERE.parent])
    except Refusal as refusal:
        pytest.skip(str(refusal))
    with rig:
        counter = rig[1].popen(
            [sys.executable, "-uc", "import time\nwhile True: print(1); time.sleep(0.01)"],
            stdout=subprocess.PIPE,
        )
        counter.stdout.readline()
        rig[1].freeze()
        assert rig[1].processes() and {state(pid) for pid in rig[1].processes()} == {"T"}
        rig[1].thaw()
        counter.stdout.readline()
        rig[1].power_off()
        assert not rig[1].processes()
        counter.stdout.close()
        counter.wait()
        assert rig[0].run(["hostname"]).stdout.strip() == "h0"
        assert rig[0].run([RSH, "h1", "true"], check=False).returncode == 255


OWNER = """
import sys, time
from evenkeel_rig import Rig
rig = Rig(2)
rig[1].popen(["sleep", "12345"])
while not rig[1].processes(): time.sleep(0.01)
print(rig.keeper, *[h.pid for h in rig.hosts], *rig[1].processes(), flush=True)
time.sleep(600)
"""


def gone(pid):
    """Whether a process has ended; one that nobody has reaped yet has."""
    return state(pid) in "ZX"


def test_nothing_survives_its_owner(rig):
    before = set(os.listdir("/sys/class/net"))
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(HERE)},
    )
    pids = [int(word) for word in owner.stdout.readline().split()]
    there = [pid for pid in pids if not gone(pid)]
    owner.kill()
    owner.wait()
    owner.stdout.close()
    assert len(pids) == 4 and there == pids
    deadline = time.monotonic() + 10
    while not all(gone(pid) for pid in pids):
        assert time.monotonic() < deadline, f"still there: {[pid for pid in pids if not gone(pid)]}"
        time.sleep(0.02)
    assert set(os.listdir("/sys/class/net")) <= before and not os.path.exists("/tmp/rig")
