"""Virtual hosts are hosts: each has a name, a network, shared memory and files of its own.

Cables can be pulled, hosts can be stopped and killed, and nothing outlives a rig.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenkeel_rig import Rig, RigUnavailableError
from evenkeel_rig.network import LinkShape, address
from evenkeel_rig.paths import RSH
from evenkeel_rig.processes import state

HERE = Path(__file__).resolve().parent.parent


@pytest.fixture
def rig(rig_of_four):
    yield rig_of_four
    rig_of_four.partition()
    rig_of_four.set_loss(0)
    for host in rig_of_four.hosts:
        host.plug_in()


# Where no answer may come, it is waited for so long; and where one must come, on a busy machine.
SOON_S, PATIENCE_S = 0.2, 100


def answered(host, other, tries, patience_s):
    """How many of so many pings the other host answers."""
    script = f"""
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout({patience_s})
got = 0
for i in range({tries}):
    s.sendto(b'%d' % i, ('{address(other.index)}', 7))
    try:
        while s.recv(64) != b'%d' % i: pass  # answers that came too late
        got += 1
    except OSError:
        pass
print(got)
"""
    return int(host.run([sys.executable, "-c", script]).stdout)


def reaches(host, other):
    return any(answered(host, other, 1, 2.0) for _ in range(50))


def is_cut_off_from(host, other):
    return answered(host, other, 3, SOON_S) == 0


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
    """h1 and h2 answer pings at port 7."""
    servers = [rig[i].popen([sys.executable, "-c", ECHO], stdout=subprocess.PIPE) for i in (1, 2)]
    for server in servers:
        server.stdout.readline()
    yield
    for host, server in zip((rig[1], rig[2]), servers, strict=True):
        for pid, words in host.processes().items():
            if "recvfrom" in words:
                os.kill(pid, signal.SIGKILL)
        server.wait()
        server.stdout.close()


def test_each_host_has_a_name_files_shared_memory_and_a_network_of_its_own(rig):
    for host in rig.hosts:
        host.run(["sh", "-c", "hostname > /tmp/mine; hostname > /dev/shm/mine; ipcmk -Q > /dev/null"])
    for host in rig.hosts:
        assert (
            host.run(["cat", "/tmp/mine", "/dev/shm/mine", "/proc/sys/kernel/hostname"]).stdout.split()
            == [host.name] * 3
        )
        assert host.run(["sh", "-c", "ipcs -q | grep -c 0x"]).stdout.strip() == "1"
        assert host.run(["sh", "-c", "ls /sys/class/net"]).stdout.split() == ["eth0", "lo"]
    assert not Path("/tmp/mine").exists() and not Path("/dev/shm/mine").exists()


def test_every_host_knows_the_names_of_all(rig):
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


def test_a_host_whose_cable_is_pulled_is_not_reached(rig, echo):
    assert reaches(rig[0], rig[1])
    rig[1].unplug()
    assert is_cut_off_from(rig[0], rig[1])
    assert reaches(rig[0], rig[2])
    rig[1].plug_in()
    assert reaches(rig[0], rig[1])


def test_hosts_in_different_parts_do_not_reach_each_other(rig, echo):
    rig.partition({0, 1}, {2, 3})
    assert reaches(rig[0], rig[1]) and reaches(rig[3], rig[2])
    assert is_cut_off_from(rig[0], rig[2]) and is_cut_off_from(rig[3], rig[1])
    rig.partition()
    assert reaches(rig[0], rig[2])


def test_some_packets_are_lost(rig, echo):
    """Of 40 pings at 30% loss each way about half are answered; all or none would be one case in 10^12."""
    rig.set_loss(30)
    assert 0 < answered(rig[0], rig[1], 40, SOON_S) < 40
    rig.set_loss(0)
    assert answered(rig[0], rig[1], 5, PATIENCE_S) == 5


RECEIVER = """
import socket
server = socket.create_server(('', 9))
print('ready', flush=True)
connection = server.accept()[0]
while connection.recv(1 << 16):
    pass
connection.send(b'!')
"""

SENDER = """
import socket, time
connection = socket.create_connection(('{address}', 9))
start = time.monotonic()
connection.sendall(bytes({size}))
connection.shutdown(1)
connection.recv(1)
print(time.monotonic() - start)
"""


def test_a_rate_limit_slows_transfers(rig):
    """2 MB at 40 Mbit/s take 0.4 s, less what the token bucket holds; without a limit a hundredth of that."""
    rig.shape(LinkShape(rate_mbit=40))
    try:
        receiver = rig[1].popen([sys.executable, "-c", RECEIVER], stdout=subprocess.PIPE)
        receiver.stdout.readline()
        sender = SENDER.format(address=address(1), size=2_000_000)
        seconds = float(rig[0].run([sys.executable, "-c", sender]).stdout)
        receiver.wait()
        receiver.stdout.close()
    finally:
        rig.shape(LinkShape())
    assert seconds > 0.3


def test_a_delay_is_refused_where_the_kernel_lacks_netem(rig):
    if rig.has_netem():
        rig.shape(LinkShape(delay_ms=5))
        rig.shape(LinkShape())
    else:
        with pytest.raises(RigUnavailableError, match="netem"):
            rig.shape(LinkShape(delay_ms=5))


def test_a_frozen_host_goes_on_and_a_host_without_power_is_gone():
    """The other hosts are not touched."""
    try:
        rig = Rig(2, shared=[HERE.parent])
    except RigUnavailableError as error:
        pytest.skip(str(error))
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
print(rig.init_pid, *[h.pid for h in rig.hosts], *rig[1].processes(), flush=True)
time.sleep(600)
"""


def gone(pid):
    """Whether a process has ended; it may still be a zombie."""
    return state(pid) in "ZX"


def test_nothing_survives_a_killed_owner(rig):
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
    deadline = time.monotonic() + PATIENCE_S
    while not all(gone(pid) for pid in pids):
        assert time.monotonic() < deadline, f"still there: {[pid for pid in pids if not gone(pid)]}"
        time.sleep(0.02)
    assert set(os.listdir("/sys/class/net")) <= before and not Path("/tmp/rig").exists()
