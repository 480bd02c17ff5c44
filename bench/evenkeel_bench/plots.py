"""The results on one host as figures (SVG)."""

import matplotlib.pyplot as plt

from . import deferral_targets
from .figures import errors, save, use_style
from .judgement import host, number
from .plan import FLOOR
from .results import is_evenkeel
from .tables import label, operations

# Each library has one colour and mark; evenkeel over it is the solid, thick line.
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
    """Writes the figures; returns (file name, title) of each."""
    use_style()
    written = []
    for op, bytes_ in sorted(operations(results, "collectives"), key=lambda o: (o[0] != "barrier", o)):
        name = f"latency-{op}" + (f"-{bytes_}" if bytes_ else "") + ".svg"
        if _latency(results, op, bytes_, folder / name):
            written.append((name, f"Latency of {label(op, bytes_)} against ranks"))
    for name, draw, title in (
        ("skew.svg", _skew, "Processor time of a reduction under skew"),
        ("late.svg", _late, "How long ranks are held by a late one that they do not need"),
        ("deferred.svg", _deferred, "What deferred barriers bring, beside what they were to bring"),
    ):
        if draw(results, folder / name):
            written.append((name, title))
    return written


def _latency(results, op, bytes_, path):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, sharex=True)
    drawn = False
    for axis, stat, what in (
        (axes[0], "mean_us", "mean over ranks and calls"),
        (axes[1], "completion_us", "completion (slowest rank)"),
    ):
        for c in results.configurations("collectives"):
            points = _latency_points(results, c, op, bytes_, stat)
            if not points:
                continue
            drawn = True
            ranks, spreads = zip(*points, strict=True)
            axis.errorbar(
                ranks,
                [s.median for s in spreads],
                yerr=errors(spreads),
                label=_label(c),
                capsize=2,
                elinewidth=0.7,
                **_style(c),
            )
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xticks(results.ranks("collectives"), [str(n) for n in results.ranks("collectives")])
        axis.set_xlabel("ranks")
        axis.set_title(f"{label(op, bytes_)}: {what}")
        axis.grid(True, which="major", alpha=0.3)
    axes[0].set_ylabel("µs")
    axes[1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    if drawn:
        save(figure, path)
    else:
        plt.close(figure)
    return drawn


def _latency_points(results, configuration, op, bytes_, stat):
    """(ranks, spread) of all that were measured."""
    points = []
    for n in results.ranks("collectives"):
        more = {"bytes": bytes_}
        if configuration == FLOOR:
            spins = results.series(stat, "collectives", FLOOR, n, op, bytes=bytes_, variant="spin")
            more["variant"] = "spin" if spins else "yield"
        s = results.spread(stat, "collectives", configuration, n, op, **more)
        if s and s.median > 0:
            points.append((n, s))
    return points


def _label(configuration):
    if configuration == FLOOR:
        return "bare, no MPI"
    return f"evenkeel over {host(configuration)}" if is_evenkeel(configuration) else configuration


def _style(configuration):
    if configuration == FLOOR:
        return {"color": "#777777", "linestyle": ":", "linewidth": 1.5, "marker": "", "zorder": 1}
    base = host(configuration)
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


def _colours(names):
    return ["#0072b2" if is_evenkeel(n) else "#bbbbbb" for n in names]


def _bars(axis, names, spreads, colours, unit):
    """Horizontal bars with their numbers."""
    y = range(len(names))
    medians = [s.median for s in spreads]
    axis.barh(y, medians, color=colours, xerr=errors(spreads), capsize=2, ecolor="#555555")
    widest = max(1e-9, *(s.high for s in spreads))
    for i, s in enumerate(spreads):
        axis.text(max(s.high, 0) + 0.02 * widest, i, number(s.median), va="center", fontsize=8)
    axis.set_yticks(y, names)
    axis.invert_yaxis()
    axis.set_xlabel(unit)
    axis.set_xlim(right=widest * 1.18)


def _skew(results, path):
    skews = sorted({r["skew_us"] for r in results.select(section="skew") if r.get("skew_us") is not None})
    if not skews:
        return False
    figure, axes = plt.subplots(1, len(skews), figsize=(5.5 * len(skews), 3.2), squeeze=False)
    for axis, skew in zip(axes[0], skews, strict=True):
        found = []
        for c in results.configurations("skew"):
            for n in results.ranks("skew"):
                s = results.spread("mean_us", "skew", c, n, "reduce_skew", skew_us=skew)
                if s:
                    found.append((c, s))
        names = [c for c, _ in found]
        unit = "µs of processor time per MPI_Reduce"
        _bars(axis, [_label(c) for c in names], [s for _, s in found], _colours(names), unit)
        axis.axvline(0, color="#555555", linewidth=0.8)
        axis.set_title(f"skew {skew} µs, {results.ranks('skew')[-1]} ranks, 4 doubles")
    figure.tight_layout()
    save(figure, path)
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
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    size = (2.4 * columns + 1.8, (0.24 * len(names) + 1.2) * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharey=True, squeeze=False)
    for axis in list(axes.flat)[len(shown) :]:
        axis.set_visible(False)
    for axis, (op, n) in zip(axes.flat, shown, strict=False):  # there may be more axes
        _late_bars(axis, results, names, op, n)
    axes[0][0].set_yticks(range(len(names)), [_label(c) for c in names])
    axes[0][0].invert_yaxis()
    figure.tight_layout()
    save(figure, path)
    return True


def _late_bars(axis, results, names, op, n):
    found = [(i, c, results.spread("worst_ms", "late", c, n, op)) for i, c in enumerate(names)]
    found = [(i, c, s) for i, c, s in found if s]
    colours = _colours([c for _, c, _ in found])
    axis.barh([i for i, _, _ in found], [s.median for _, _, s in found], color=colours)
    for i, _, s in found:
        axis.text(max(s.median, 0.001) * 1.15, i, number(s.median), va="center", fontsize=7)
    axis.set_xscale("log")
    axis.set_xlim(0.001, 2000)
    axis.axvline(1, color="#d55e00", linewidth=0.8, linestyle=":")
    axis.set_title(f"MPI_{op.removeprefix('late_').capitalize()}\n{n} ranks", fontsize=8)
    axis.set_xlabel("held, ms")


def _deferred(results, path):
    """Each target that is a ratio: what was measured, over its limit. Left of the line it is met."""
    found = []
    for t in deferral_targets.evaluate(results):
        limit = float(t.target.split()[1])
        judged = [j for j in t.judgements if j.value is not None]
        found += [(f"{t.what}, {t.target}", j.configuration, j.value / limit) for j in judged]
    if not found:
        return False
    names = list(dict.fromkeys(name for name, _, _ in found))
    configurations = list(dict.fromkeys(c for _, c, _ in found))
    figure, axis = plt.subplots(figsize=(7, 0.3 * len(names) + 1.2))
    for c in configurations:
        axis.scatter(
            [value for _, of, value in found if of == c],
            [names.index(name) for name, of, _ in found if of == c],
            label=_label(c),
            zorder=3,
            color=COLOURS.get(host(c), "#555555"),
            marker=MARKS.get(host(c), "o"),
        )
    axis.axvline(1, color="#d55e00", linewidth=1)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.grid(True, axis="y", alpha=0.3)
    axis.set_xlabel("measured, over the target")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(configurations), frameon=False)
    save(figure, path)
    return True
