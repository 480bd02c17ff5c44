"""The two system calls that Python 3.11 does not have: unshare(2) and mount(2)."""

import ctypes
import os

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
    """mount(2). A source may be /proc/self/fd/N: unlike mount(8), it is taken as it is."""
    as_bytes = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    options = None if data is None else data.encode()
    _check(_libc.mount(*as_bytes, ctypes.c_ulong(flags), options), f"mount {source} on {target}")


class Kept:
    """A file or folder held open, so that it can be bound to its place again after something was mounted over that."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        self.folder = os.path.isdir(self.path)
        self._fd = os.open(self.path, os.O_PATH | os.O_CLOEXEC)

    def put_back(self):
        if self.folder:
            os.makedirs(self.path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            open(self.path, "a").close()
        mount(f"/proc/self/fd/{self._fd}", self.path, flags=BIND | REC)
