"""The machine on which the numbers were measured. Reads /proc and asks the compiler; changes nothing."""

import os
import platform
import shutil
import subprocess
import time
from pathlib import Path


def load():
    """The load average of the last minute."""
    return os.getloadavg()[0]


def describe(command_line):
    """Lines for the head of the results."""
    usable = len(os.sched_getaffinity(0))
    return [
        f"command: `{command_line}`",
        f"date: {time.strftime('%Y-%m-%d %H:%M %Z')}",
        f"processor: {cpu_model()}, {usable} usable of {os.cpu_count()} cores",
        f"memory: {memory_gib():.0f} GiB",
        f"kernel: {platform.system()} {platform.release()}; {system_name()}",
        f"compiler: {first_line(['gcc', '--version'])}",
        f"load (1 minute) before: {load():.2f}",
    ]


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("model name", "Processor", "cpu model")):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def system_name():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown system")
    except OSError:
        return "unknown system"


def first_line(command):
    if not shutil.which(command[0]):
        return f"no {command[0]}"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout or done.stderr
    return said.splitlines()[0] if said else "no output"
