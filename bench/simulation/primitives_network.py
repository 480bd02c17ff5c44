"""The network of Frachtenberg's thesis (2003, chapter 2 and section 4.3): QsNet. Pure.

A message of up to 64 bytes takes 2.4 µs among 64 nodes, main memory to main memory. A switch adds 35 ns, and
a metre of cable 3.94 ns. Its switches multicast and combine.
"""

import math

ONE_WAY_NS, AT_NODES = 2400, 64
SWITCH_NS, METRE_NS = 35, 3.94
OVERHEAD_NS = 300  # our assumption: the thesis does not divide the 2.4 µs
PS_PER_BYTE = 5000  # 200 MB/s


def stages(nodes):
    """Switches between two nodes of a quaternary fat tree."""
    return 2 * math.log(nodes, 4) - 1


def metres(nodes):
    """The longest cable of a square floor with 2 square metres a node."""
    return math.sqrt(2 * nodes)


def latency_ns(nodes):
    """One way, without the processors' overheads."""
    switches = SWITCH_NS * (stages(nodes) - stages(AT_NODES))
    cables = METRE_NS * (metres(nodes) - metres(AT_NODES))
    return round(ONE_WAY_NS - 2 * OVERHEAD_NS + switches + cables)


def round_trip_ns(nodes):
    """From a packet that hardware multicasts to the combined acknowledgement.

    Equation 4.3 with one factor for switches; see the correction in the digest of the thesis.
    """
    return 580 + 2 * metres(nodes) * METRE_NS + stages(nodes) * 73


def hardware_barrier_us(nodes):
    """A test and its end-of-packet token: one and a half round trips, and a constant.

    The constant makes 1,024 nodes take the 10 µs that were measured.
    """
    return 10 + 1.5 * (round_trip_ns(nodes) - round_trip_ns(1024)) / 1e3


def hardware_mb_s(nodes):
    """One packet of 320 bytes in flight; from main memory 175 MB/s at most, as measured."""
    return min(175, 320e3 / max(953, round_trip_ns(nodes)))
