"""The results on several hosts as figures (SVG): collectives against ranks, and what a stopped host costs."""

import matplotlib.pyplot as plt

from evenkeel_bench.figures import errors, save, use_style
from evenkeel_bench.statistics import spread

from .rows import is_evenkeel, loss_by_round

# Each library has one colour; evenkeel over it is the solid, thick line.
COLOURS = {
    "openmpi4": "#56b4e9",
    "openmpi5": "#009e73",
    "mpich5-ucx": "#d55e00",
    "mpich5-ofi": "#e69f00",
    "impi": "#000000",
}


def write_all(rows, folder):
    """Writes the figures; returns (file name, title) of each."""
    use_style()
    written = []
    mine = rows.where(section="collectives")
    for op, bytes_ in sorted({(row["op"], row["bytes"]) for row in mine if row.get("mean_us") is not None}):
        name = f"nodes-{op}" + (f"-{bytes_}" if bytes_ else "") + ".svg"
        title = f"{op} {bytes_ or ''}".strip()
        _collective(mine.where(op=op, bytes=bytes_), title, folder / name)
        written.append((name, title))
    if rows.where(section="stopped", op="stopped"):
        _stopped(rows, folder / "nodes-stopped.svg")
        written.append(("nodes-stopped.svg", "what the others lose when a host is stopped"))
    return written


def _style(name):
    ours = is_evenkeel(name)
    return {
        "color": COLOURS.get(name.removesuffix("+evenkeel"), "#888888"),
        "linewidth": 2.4 if ours else 1.1,
        "linestyle": "-" if ours else "--",
        "marker": "o" if ours else "s",
        "markersize": 4,
    }


def _collective(rows, title, path):
    cells = sorted(rows.cells(), key=lambda c: (c[0] * c[1], c))
    figure, axis = plt.subplots(figsize=(7.5, 4))
    for name in rows.names():
        points = []
        for place, (hosts, per_host) in enumerate(cells):
            series = rows.series("completion_us", setting=name, hosts=hosts, per_host=per_host)
            points.append((place, spread(series.values())))
        points = [(place, s) for place, s in points if s]
        if points:
            places, spreads = zip(*points, strict=True)
            axis.errorbar(
                places,
                [s.median for s in spreads],
                yerr=errors(spreads),
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
    save(figure, path)


def _stopped(rows, path):
    names = rows.names(section="stopped")
    figure, axis = plt.subplots(figsize=(7, 0.4 * len(names) + 1))
    for place, name in enumerate(names):
        loss = spread(loss_by_round(rows, name).values())
        if loss:
            alpha = 1 if is_evenkeel(name) else 0.5
            axis.barh(place, loss.median, color=_style(name)["color"], alpha=alpha)
    axis.axvline(5, color="#888888", linewidth=0.8)
    axis.set_yticks(range(len(names)), names)
    axis.set_xlabel("time lost by the others, %")
    save(figure, path)
