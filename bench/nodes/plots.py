"""The results as pictures (SVG): collectives against the number of ranks, and what a stopped host costs the others."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from evenkeel_bench.statistics import spread

from . import targets

# A library has one colour, evenkeel over it the same with a solid, thick line.
COLOURS = {
    "openmpi4": "#56b4e9",
    "openmpi5": "#009e73",
    "mpich5-ucx": "#d55e00",
    "mpich5-ofi": "#e69f00",
    "impi": "#000000",
}


def write_all(rows, folder):
    """Writes the pictures; returns (file name, title) of each."""
    plt.rcParams |= {
        "font.size": 9,
        "svg.fonttype": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "evenkeel",
    }
    written = []
    mine = rows.where(section="collectives")
    for op, bytes_ in sorted({(row["op"], row["bytes"]) for row in mine if row.get("mean_us") is not None}):
        name = f"nodes-{op}" + (f"-{bytes_}" if bytes_ else "") + ".svg"
        _collective(mine.where(op=op, bytes=bytes_), f"{op} {bytes_ or ''}".strip(), folder / name)
        written.append((name, f"{op} {bytes_ or ''}".strip()))
    if rows.where(section="stopped", op="stopped"):
        _stopped(rows, folder / "nodes-stopped.svg")
        written.append(("nodes-stopped.svg", "what the others lose when a host is stopped"))
    return written


def _style(name):
    ours = targets.is_evenkeel(name)
    return {
        "color": COLOURS.get(name.removesuffix("+evenkeel"), "#888888"),
        "linewidth": 2.4 if ours else 1.1,
        "linestyle": "-" if ours else "--",
        "marker": "o" if ours else "s",
        "markersize": 4,
    }


def _save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _collective(rows, title, path):
    cells = sorted({(row["hosts"], row["per_host"]) for row in rows}, key=lambda c: (c[0] * c[1], c))
    figure, axis = plt.subplots(figsize=(7.5, 4))
    for name in rows.names():
        points = [
            (
                place,
                spread(rows.series("completion_us", setting=name, hosts=hosts, per_host=per_host).values()),
            )
            for place, (hosts, per_host) in enumerate(cells)
        ]
        points = [(place, s) for place, s in points if s]
        if points:
            errors = ([s.median - s.low for _, s in points], [s.high - s.median for _, s in points])
            axis.errorbar(
                [place for place, _ in points],
                [s.median for _, s in points],
                yerr=errors,
                label=name,
                capsize=2,
                elinewidth=0.7,
                **_style(name),
            )
    axis.set_yscale("log")
    axis.set_xticks(range(len(cells)), [f"{hosts}×{per_host}" for hosts, per_host in cells])
    axis.set_xlabel("hosts × ranks on each")
    axis.set_ylabel("µs until the slowest rank is done")
    axis.set_title(title)
    axis.grid(True, which="major", alpha=0.3)
    axis.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    _save(figure, path)


def _stopped(rows, path):
    names = rows.names(section="stopped")
    losses = [spread(targets._loss(rows, name).values()) for name in names]
    figure, axis = plt.subplots(figsize=(7, 0.4 * len(names) + 1))
    for place, (name, loss) in enumerate(zip(names, losses)):
        if loss:
            axis.barh(
                place, loss.median, color=_style(name)["color"], alpha=1 if targets.is_evenkeel(name) else 0.5
            )
    axis.axvline(5, color="#888888", linewidth=0.8)
    axis.set_yticks(range(len(names)), names)
    axis.set_xlabel("time lost by the others, %")
    _save(figure, path)
