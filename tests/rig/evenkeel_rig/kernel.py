"""The two system calls that Python 3.11 lacks: unshare(2) and mount(2)."""

import ctypes
import os
from pathlib import Path

NEWNS, NEWUTS, NEWIPC, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x40000000
BIND, REC = 4096, 16384

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, what):
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags):
    """Moves this process into new namespaces."""
    _check(_libc.unshare(flags), f"unshare({flags:#x})")


def mount(source, target, kind=None, flags=0, data=None):
    """mount(2). A source may be /proc/self/fd/N, which mount(8) would resolve."""
    as_bytes = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    options = None if data is None else data.encode()
    _check(_libc.mount(*as_bytes, ctypes.c_ulong(flags), options), f"mount {source} on {target}")


class HeldPath:
    """A file or folder held open, so that it can be bound to its path again after a mount has covered it."""

    def __init__(self, path):
        self.path = Path(path).resolve()
        self.is_folder = self.path.is_dir()
        self._fd = os.open(self.path, os.O_PATH | os.O_CLOEXEC)

    def bind_again(self):
        if self.is_folder:
            self.path.mkdir(parents=True, exist_ok=True)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
        mount(f"/proc/self/fd/{self._fd}", str(self.path), flags=BIND | REC)
