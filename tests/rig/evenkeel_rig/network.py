"""The network of a rig as command lines: values in, command lines out; nothing is run here.

Each host has `eth0`, 10.77.0.(i+1)/24; its other end is `v<i>` on the bridge `sw`."""

import dataclasses

BRIDGE = "sw"


def address(index):
    """Address of a host. At most 250 fit."""
    return f"10.77.0.{index + 1}"


def port(index):
    """The switch's end of a host's cable."""
    return f"v{index}"


def switch():
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", BRIDGE, "type", "bridge", "forward_delay", "0", "stp_state", "0"],
        ["ip", "link", "set", BRIDGE, "up"],
    ]


def cable(index, pid):
    """From the switch to the host whose namespaces the process `pid` holds; the switch's side."""
    return [
        ["ip", "link", "add", port(index), "type", "veth", "peer", "name", "eth0", "netns", str(pid)],
        ["ip", "link", "set", port(index), "master", BRIDGE, "up"],
    ]


def interface(index):
    """The host's side of its cable."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "addr", "add", f"{address(index)}/24", "dev", "eth0"],
        ["ip", "link", "set", "eth0", "up"],
    ]


def link(index, up):
    """Plugs a host's cable in, or pulls it. At the switch: the host is not asked."""
    return ["ip", "link", "set", port(index), "up" if up else "down"]


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a link does to traffic, in each direction. None: nothing."""

    rate_mbit: float | None = None
    delay_ms: float | None = None  # these three need netem in the kernel
    duplicate_percent: float | None = None
    reorder_percent: float | None = None  # so many packets skip the delay; needs one

    @property
    def needs_netem(self):
        return any(
            value is not None for value in (self.delay_ms, self.duplicate_percent, self.reorder_percent)
        )


def shape(device, wanted):
    """The queueing of one end of a cable: what was there goes, what is wanted comes. The first command may fail (nothing was there)."""
    lines = [["tc", "qdisc", "del", "dev", device, "root"]]
    place = ["root", "handle", "1:"]
    if wanted.needs_netem:
        netem = ["netem"]
        if wanted.delay_ms is not None:
            netem += ["delay", f"{wanted.delay_ms}ms"]
        if wanted.reorder_percent is not None:
            netem += ["reorder", f"{wanted.reorder_percent}%"]
        if wanted.duplicate_percent is not None:
            netem += ["duplicate", f"{wanted.duplicate_percent}%"]
        lines.append(["tc", "qdisc", "add", "dev", device, *place, *netem, "limit", "100000"])
        place = ["parent", "1:", "handle", "2:"]
    if wanted.rate_mbit is not None:
        # A bucket must hold what passes between two ticks of the kernel's clock (4 ms at 250 Hz), and one
        # packet.
        burst = max(32 * 1024, int(wanted.rate_mbit * 1e6 / 8 * 0.004))
        lines.append(
            [
                "tc",
                "qdisc",
                "add",
                "dev",
                device,
                *place,
                "tbf",
                "rate",
                f"{wanted.rate_mbit}mbit",
                "burst",
                str(burst),
                "latency",
                "50ms",
            ]
        )
    return lines


def filter_rules(loss_percent=0.0, deaf_to=()):
    """A host's rules for `nft -f -`: of what comes in over the cable so many per cent are lost, and all of what certain addresses send."""
    rules = []
    if deaf_to:
        rules.append(f'iifname "eth0" ip saddr {{ {", ".join(sorted(deaf_to))} }} drop')
    if loss_percent > 0:
        rules.append(f'iifname "eth0" numgen random mod 10000 < {round(loss_percent * 100)} drop')
    body = "\n        ".join(["type filter hook input priority 0;", *rules])
    # Adding before deleting makes deleting safe; nft carries all of it out at once.
    return f"add table inet rig\ndelete table inet rig\ntable inet rig {{\n    chain input {{\n        {body}\n    }}\n}}\n"
