"""The results as pictures (SVG): latency against ranks for each operation, processor time under skew, late ranks."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from . import deferral_targets, targets
from .plan import FLOOR
from .results import is_evenkeel
from .tables import named, operations

# One colour for each library, with and without evenkeel: evenkeel is the solid, thick line.
COLOURS = {
    "openmpi4": "#0072b2",
    "openmpi4-bound": "#56b4e9",
    "openmpi5-bound": "#009e73",
    "mpich4": "#cc79a7",
    "mpich5": "#d55e00",
    "mpich5-throttled": "#e69f00",
    "mpich5-one-session": "#8c510a",
    "impi": "#000000",
}
MARKS = {
    "openmpi4": "o",
    "openmpi4-bound": "s",
    "openmpi5-bound": "^",
    "mpich4": "v",
    "mpich5": "D",
    "mpich5-throttled": "P",
    "mpich5-one-session": "p",
    "impi": "X",
}


def write_all(results, folder):
    """Writes the pictures; returns (file name, title) of each."""
    plt.rcParams |= {
        "font.size": 9,
        "svg.fonttype": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "evenkeel",
    }
    written = []
    for op, bytes_ in sorted(operations(results, "collectives"), key=lambda o: (o[0] != "barrier", o)):
        name = f"latency-{op}" + (f"-{bytes_}" if bytes_ else "") + ".svg"
        if _latency(results, op, bytes_, folder / name):
            written.append((name, f"Latency of {named(op, bytes_)} against ranks"))
    if _skew(results, folder / "skew.svg"):
        written.append(("skew.svg", "Processor time of a reduction under skew"))
    if _late(results, folder / "late.svg"):
        written.append(("late.svg", "How long ranks are held by a late one that they do not need"))
    if _deferred(results, folder / "deferred.svg"):
        written.append(("deferred.svg", "What deferred barriers bring, beside what they were to bring"))
    return written


def _save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _latency(results, op, bytes_, path):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, sharex=True)
    drawn = False
    for axis, stat, said in (
        (axes[0], "mean_us", "mean over ranks and calls"),
        (axes[1], "completion_us", "completion (slowest rank)"),
    ):
        for c in results.configurations("collectives"):
            points = []
            for n in results.ranks("collectives"):
                more = {"bytes": bytes_}
                if c == FLOOR:
                    more["variant"] = (
                        "spin"
                        if results.series(stat, "collectives", c, n, op, bytes=bytes_, variant="spin")
                        else "yield"
                    )
                s = results.spread(stat, "collectives", c, n, op, **more)
                if s and s.median > 0:
                    points.append((n, s.median, s.median - s.low, s.high - s.median))
            if not points:
                continue
            drawn = True
            x, y, down, up = zip(*points)
            axis.errorbar(x, y, yerr=(down, up), label=_label(c), capsize=2, elinewidth=0.7, **_style(c))
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xticks(results.ranks("collectives"), [str(n) for n in results.ranks("collectives")])
        axis.set_xlabel("ranks")
        axis.set_title(f"{named(op, bytes_)}: {said}")
        axis.grid(True, which="major", alpha=0.3)
    axes[0].set_ylabel("µs")
    axes[1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    if drawn:
        _save(figure, path)
    else:
        plt.close(figure)
    return drawn


def _label(configuration):
    if configuration == FLOOR:
        return "bare, no MPI"
    return f"evenkeel over {targets.host(configuration)}" if is_evenkeel(configuration) else configuration


def _style(configuration):
    if configuration == FLOOR:
        return {"color": "#777777", "linestyle": ":", "linewidth": 1.5, "marker": "", "zorder": 1}
    base = targets.host(configuration)
    common = {"color": COLOURS.get(base, "#555555"), "marker": MARKS.get(base, "o")}
    if is_evenkeel(configuration):
        return common | {"linestyle": "-", "linewidth": 2.4, "markersize": 6, "zorder": 3}
    return common | {
        "linestyle": "--",
        "linewidth": 1,
        "markersize": 4,
        "markerfacecolor": "white",
        "zorder": 2,
    }


def _bars(axis, names, values, colours, unit):
    """Horizontal bars with their numbers; values are spreads."""
    y = range(len(names))
    axis.barh(
        y,
        [s.median for s in values],
        color=colours,
        xerr=([s.median - s.low for s in values], [s.high - s.median for s in values]),
        capsize=2,
        ecolor="#555555",
    )
    widest = max(max(s.high for s in values), 1e-9)
    for i, s in enumerate(values):
        axis.text(max(s.high, 0) + 0.02 * widest, i, targets.number(s.median), va="center", fontsize=8)
    axis.set_yticks(y, names)
    axis.invert_yaxis()
    axis.set_xlabel(unit)
    axis.set_xlim(right=widest * 1.18)


def _colours(names):
    return ["#0072b2" if is_evenkeel(n) else "#bbbbbb" for n in names]


def _skew(results, path):
    skews = sorted({r["skew_us"] for r in results.select(section="skew") if r.get("skew_us") is not None})
    if not skews:
        return False
    figure, axes = plt.subplots(1, len(skews), figsize=(5.5 * len(skews), 3.2), squeeze=False)
    for axis, skew in zip(axes[0], skews):
        found = []
        for c in results.configurations("skew"):
            for n in results.ranks("skew"):
                s = results.spread("mean_us", "skew", c, n, "reduce_skew", skew_us=skew)
                if s:
                    found.append((c, s))
        _bars(
            axis,
            [_label(c) for c, _ in found],
            [s for _, s in found],
            _colours([c for c, _ in found]),
            "µs of processor time per MPI_Reduce",
        )
        axis.axvline(0, color="#555555", linewidth=0.8)
        axis.set_title(f"skew {skew} µs, {results.ranks('skew')[-1]} ranks, 4 doubles")
    figure.tight_layout()
    _save(figure, path)
    return True


def _late(results, path):
    shown = [
        (op, n)
        for op in ("late_ibarrier", "late_reduce", "late_bcast")
        for n in results.ranks("late")
        if results.select(section="late", op=op, ranks=n)
    ]
    if not shown:
        return False
    names = results.configurations("late")
    across = min(4, len(shown))
    down = -(-len(shown) // across)
    figure, axes = plt.subplots(
        down,
        across,
        figsize=(2.4 * across + 1.8, (0.24 * len(names) + 1.2) * down),
        sharey=True,
        squeeze=False,
    )
    for axis in list(axes.flat)[len(shown) :]:
        axis.set_visible(False)
    for axis, (op, n) in zip(axes.flat, shown):
        found = [(i, c, results.spread("worst_ms", "late", c, n, op)) for i, c in enumerate(names)]
        found = [f for f in found if f[2]]
        axis.barh(
            [i for i, _, _ in found],
            [s.median for _, _, s in found],
            color=_colours([c for _, c, _ in found]),
        )
        for i, _, s in found:
            axis.text(max(s.median, 0.001) * 1.15, i, targets.number(s.median), va="center", fontsize=7)
        axis.set_xscale("log")
        axis.set_xlim(0.001, 2000)
        axis.axvline(1, color="#d55e00", linewidth=0.8, linestyle=":")
        axis.set_title(f"MPI_{op.removeprefix('late_').capitalize()}\n{n} ranks", fontsize=8)
        axis.set_xlabel("held, ms")
    axes[0][0].set_yticks(range(len(names)), [_label(c) for c in names])
    axes[0][0].invert_yaxis()
    figure.tight_layout()
    _save(figure, path)
    return True


def _deferred(results, path):
    """Each promise that is a ratio: what was measured over its limit. Left of the line it is kept."""
    found = []
    for t in deferral_targets.evaluate(results):
        limit = float(t.target.split()[1])
        found += [
            (f"{t.what}, {t.target}", j.configuration, j.value / limit)
            for j in t.judged
            if j.value is not None
        ]
    if not found:
        return False
    names, configurations = (
        list(dict.fromkeys(n for n, _, _ in found)),
        list(dict.fromkeys(c for _, c, _ in found)),
    )
    figure, axis = plt.subplots(figsize=(7, 0.3 * len(names) + 1.2))
    for c in configurations:
        axis.scatter(
            [v for _, d, v in found if d == c],
            [names.index(n) for n, d, _ in found if d == c],
            label=_label(c),
            zorder=3,
            color=COLOURS.get(targets.host(c), "#555555"),
            marker=MARKS.get(targets.host(c), "o"),
        )
    axis.axvline(1, color="#d55e00", linewidth=1)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.grid(True, axis="y", alpha=0.3)
    axis.set_xlabel("measured, over the target")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(configurations), frameon=False)
    _save(figure, path)
    return True
