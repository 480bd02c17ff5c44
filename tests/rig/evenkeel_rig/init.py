"""The first process of a rig: makes the hosts, reaps processes that end, and exits when the rig's owner does.

It is the init of the PID namespace around all hosts, so the kernel ends everything with it. Its standard
input is a pipe that only the owner holds open. On standard output it writes one line of JSON: the process
that holds each host, or what went wrong.

    unshare --pid --fork --kill-child --mount-proc --net --uts --ipc -- \\
        python3 -m evenkeel_rig.init '{"hosts": 4, "shared": []}'
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path

from . import kernel, network
from .launching import rsh_script
from .paths import HOSTS_FILE, PIDS, RIG, RSH
from .unavailable import find


def run(line, inside=None):
    """Runs a command; with `inside`, in the network namespace of that process."""
    enter = [find("nsenter"), f"--net=/proc/{inside}/ns/net", "--"] if inside else []
    done = subprocess.run(
        [*enter, find(line[0]), *line[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise OSError(f"{' '.join(line)}: {done.stderr.strip() or done.returncode}")


def mount_own_tmp(shared):
    """Mounts an empty /tmp and binds the shared paths under it again."""
    held = [kernel.HeldPath(path) for path in shared]
    kernel.mount("tmpfs", "/tmp", "tmpfs", data="mode=1777")
    for path in held:
        path.bind_again()


def prepare_common_folder(shared, names):
    """Makes the rig's own folder in /tmp, which all hosts see.

    Returns the paths that each host binds again in its own /tmp.
    """
    hidden = [path for path in map(os.path.realpath, shared) if path.startswith("/tmp/")]
    mount_own_tmp(hidden)
    Path(PIDS).mkdir(parents=True)
    hosts = [f"{network.address(i)} {name}\n" for i, name in enumerate(names)]
    Path(HOSTS_FILE).write_text("127.0.0.1 localhost\n" + "".join(hosts))
    Path(RSH).write_text(rsh_script(os.environ))
    Path(RSH).chmod(0o755)
    return [RIG, *hidden]


def mount_own_sys():
    """Mounts a /sys that shows this host's network devices: libraries for networks look there."""
    cgroups = kernel.HeldPath("/sys/fs/cgroup") if Path("/sys/fs/cgroup").is_dir() else None
    try:
        kernel.mount("sysfs", "/sys", "sysfs")
    except OSError:
        # Containers hide parts of /sys, and then the kernel allows no other one. The old one serves most
        # programs.
        return
    if cgroups:
        cgroups.bind_again()


def become_host(name, shared, ready):
    """Turns this process into the one that holds a host's namespaces. Does not return."""
    kernel.unshare(kernel.NEWNET | kernel.NEWUTS | kernel.NEWIPC | kernel.NEWNS)
    socket.sethostname(name)
    mount_own_sys()
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", data="mode=1777")
    mount_own_tmp(shared)
    kernel.mount(HOSTS_FILE, "/etc/hosts", flags=kernel.BIND)
    os.write(ready, b"1")
    os.execvp("sleep", ["sleep", "infinity"])


def start_host(name, shared):
    """Forks the process that holds a host, and waits until its namespaces are ready. Returns its id."""
    read_end, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(0)
            os.open("/dev/null", os.O_RDWR)
            os.dup2(2, 1)
            become_host(name, shared, ready)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    os.close(ready)
    word = os.read(read_end, 1)
    os.close(read_end)
    if not word:
        raise OSError(f"host {name} could not be made; the reason is above")
    Path(PIDS, name).write_text(f"{pid}\n")
    return pid


def make_rig(hosts, shared):
    """Makes the switch, the hosts and their cables. Returns the holders' process ids by host name."""
    names = [f"h{i}" for i in range(hosts)]
    for line in network.switch():
        run(line)
    seen_by_all = prepare_common_folder(shared, names)
    pids = {}
    for index, name in enumerate(names):
        pids[name] = start_host(name, seen_by_all)
        for line in network.cable(index, pids[name]):
            run(line)
        for line in network.interface(index):
            run(line, inside=pids[name])
    return pids


def reap_until_released():
    """Reaps orphans until the owner closes its end of standard input, or dies."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if 0 in ready and not os.read(0, 4096):
            return
        if woken in ready:
            os.read(woken, 4096)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def main():
    wanted = json.loads(sys.argv[1])
    try:
        answer = {"pids": make_rig(wanted["hosts"], wanted["shared"])}
    except OSError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
    if "pids" in answer:
        reap_until_released()


if __name__ == "__main__":
    main()
