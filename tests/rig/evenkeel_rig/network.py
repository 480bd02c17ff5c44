"""The network of a rig as command lines. Values in, command lines out: nothing is run here.

Each host has `eth0`, 10.77.0.(i+1)/24. The other end of its cable is `v<i>` on the bridge `sw`.
"""

import dataclasses

BRIDGE = "sw"


def address(index):
    """The address of a host. At most 250 fit."""
    return f"10.77.0.{index + 1}"


def port(index):
    """The switch's end of a host's cable."""
    return f"v{index}"


def switch():
    """Makes the bridge."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", BRIDGE, "type", "bridge", "forward_delay", "0", "stp_state", "0"],
        ["ip", "link", "set", BRIDGE, "up"],
    ]


def cable(index, pid):
    """Lays the cable from the switch to the host whose namespaces process `pid` holds. Run at the switch."""
    return [
        ["ip", "link", "add", port(index), "type", "veth", "peer", "name", "eth0", "netns", str(pid)],
        ["ip", "link", "set", port(index), "master", BRIDGE, "up"],
    ]


def interface(index):
    """Sets up the host's end of its cable. Run on the host."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "addr", "add", f"{address(index)}/24", "dev", "eth0"],
        ["ip", "link", "set", "eth0", "up"],
    ]


def link(index, up):
    """Plugs a host's cable in, or pulls it. Run at the switch, so that the host is not asked."""
    return ["ip", "link", "set", port(index), "up" if up else "down"]


@dataclasses.dataclass(frozen=True)
class LinkShape:
    """What a link does to traffic in each direction; None: nothing.

    All but the rate need netem in the kernel.
    """

    rate_mbit: float | None = None
    delay_ms: float | None = None
    duplicate_percent: float | None = None
    reorder_percent: float | None = None  # so many packets skip the delay; needs a delay

    @property
    def needs_netem(self):
        values = (self.delay_ms, self.duplicate_percent, self.reorder_percent)
        return any(value is not None for value in values)


def netem(wanted):
    words = ["netem"]
    if wanted.delay_ms is not None:
        words += ["delay", f"{wanted.delay_ms}ms"]
    if wanted.reorder_percent is not None:
        words += ["reorder", f"{wanted.reorder_percent}%"]
    if wanted.duplicate_percent is not None:
        words += ["duplicate", f"{wanted.duplicate_percent}%"]
    return [*words, "limit", "100000"]


def token_bucket(rate_mbit):
    # The bucket must hold what passes between two ticks of the kernel's clock (4 ms at 250 Hz), and a packet.
    burst_bytes = max(32 * 1024, int(rate_mbit * 1e6 / 8 * 0.004))
    return ["tbf", "rate", f"{rate_mbit}mbit", "burst", str(burst_bytes), "latency", "50ms"]


def shape(device, wanted):
    """Replaces the queueing of one end of a cable.

    The first command fails if there was none, which is no error.
    """
    lines = [["tc", "qdisc", "del", "dev", device, "root"]]
    add, place = ["tc", "qdisc", "add", "dev", device], ["root", "handle", "1:"]
    if wanted.needs_netem:
        lines.append([*add, *place, *netem(wanted)])
        place = ["parent", "1:", "handle", "2:"]
    if wanted.rate_mbit is not None:
        lines.append([*add, *place, *token_bucket(wanted.rate_mbit)])
    return lines


def filter_rules(loss_percent=0.0, blocked=()):
    """A host's rules for `nft -f -`: of what comes in over its cable, so many per cent are lost.

    Packets from blocked addresses are all lost.
    """
    rules = []
    if blocked:
        rules.append(f'iifname "eth0" ip saddr {{ {", ".join(sorted(blocked))} }} drop')
    if loss_percent > 0:
        rules.append(f'iifname "eth0" numgen random mod 10000 < {round(loss_percent * 100)} drop')
    body = "\n        ".join(["type filter hook input priority 0;", *rules])
    # Adding the table first makes it safe to delete. nft carries all of this out at once.
    replace = "add table inet rig\ndelete table inet rig\n"
    return f"{replace}table inet rig {{\n    chain input {{\n        {body}\n    }}\n}}\n"
