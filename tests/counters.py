"""Progress of ranks, read from counters in a file that they map; never inferred from time."""

import struct

from processes import HUNG_S, until


class Counters:
    """One 64-bit counter per rank: the calls that it has returned from, or -1 just before it stops itself."""

    def __init__(self, path, ranks):
        self.path, self.ranks = path, ranks
        path.write_bytes(b"\0" * 8 * ranks)

    def read(self):
        return struct.unpack(f"{self.ranks}q", self.path.read_bytes())

    def wait_until(self, condition, seconds=HUNG_S):
        """The counters once the condition holds, or as they are when the time is up."""
        until(lambda: condition(self.read()), seconds)
        return self.read()
