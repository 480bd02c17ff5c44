"""The first process of a rig: makes the hosts, reaps what ends, and leaves when its owner does.

It is the init of the PID namespace around all hosts, so the kernel ends everything with it. Its standard input is a pipe that only the owner holds
open; on standard output it says once, in JSON, which process holds which host, or what went wrong.

    unshare --pid --fork --kill-child --mount-proc --net --uts --ipc -- python3 -m evenkeel_rig.keeper '{"hosts": 4, "shared": []}'
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback

from . import kernel, network
from .places import HOSTS_FILE, PIDS, RIG, RSH, rsh_script
from .refusal import find


def run(line, inside=None):
    """Runs a command, if wanted in the network of another process."""
    enter = [find("nsenter"), f"--net=/proc/{inside}/ns/net", "--"] if inside else []
    done = subprocess.run(
        [*enter, find(line[0]), *line[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise OSError(f"{' '.join(line)}: {done.stderr.strip() or done.returncode}")


def own_tmp(paths):
    """An empty /tmp, with the paths that are shared put back."""
    kept = [kernel.Kept(path) for path in paths]
    kernel.mount("tmpfs", "/tmp", "tmpfs", data="mode=1777")
    for path in kept:
        path.put_back()


def prepare(shared, names):
    """What all hosts see: the rig's own folder in /tmp, and the paths that they share. Returns what each of them puts back."""
    hidden = [path for path in map(os.path.realpath, shared) if path.startswith("/tmp/")]
    own_tmp(hidden)
    os.makedirs(PIDS)
    with open(HOSTS_FILE, "w") as file:
        file.write("127.0.0.1 localhost\n")
        file.writelines(f"{network.address(i)} {name}\n" for i, name in enumerate(names))
    with open(RSH, "w") as file:
        file.write(rsh_script(os.environ))
    os.chmod(RSH, 0o755)
    return [RIG, *hidden]


def own_sys():
    """/sys shows the network devices of the namespace that it was mounted in, and libraries for networks look there."""
    cgroups = kernel.Kept("/sys/fs/cgroup") if os.path.isdir("/sys/fs/cgroup") else None
    try:
        kernel.mount("sysfs", "/sys", "sysfs")
    except OSError:
        return  # containers hide parts of it, and the kernel then allows no other; the old one does for most
    if cgroups:
        cgroups.put_back()


def become_host(name, shared, ready):
    """The process that holds a host's namespaces; does not return."""
    kernel.unshare(kernel.NEWNET | kernel.NEWUTS | kernel.NEWIPC | kernel.NEWNS)
    socket.sethostname(name)
    own_sys()
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", data="mode=1777")
    own_tmp(shared)
    kernel.mount(HOSTS_FILE, "/etc/hosts", flags=kernel.BIND)
    os.write(ready, b"1")
    os.execvp("sleep", ["sleep", "infinity"])


def start_host(name, shared):
    """Forks the holder of a host and waits until it is one. Returns its id."""
    told, ready = os.pipe()
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
    word = os.read(told, 1)
    os.close(told)
    if not word:
        raise OSError(f"host {name} could not be made; what went wrong stands above")
    with open(f"{PIDS}/{name}", "w") as file:
        file.write(f"{pid}\n")
    return pid


def make(hosts, shared):
    """The whole rig. Returns the holders' ids by host name."""
    names = [f"h{i}" for i in range(hosts)]
    for line in network.switch():
        run(line)
    seen_by_all = prepare(shared, names)
    pids = {}
    for index, name in enumerate(names):
        pids[name] = start_host(name, seen_by_all)
        for line in network.cable(index, pids[name]):
            run(line)
        for line in network.interface(index):
            run(line, inside=pids[name])
    return pids


def stay():
    """Until the owner lets go; meanwhile reaps processes that have lost their parent."""
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
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def main():
    wanted = json.loads(sys.argv[1])
    try:
        answer = {"pids": make(wanted["hosts"], wanted["shared"])}
    except OSError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
    if "pids" in answer:
        stay()


if __name__ == "__main__":
    main()
