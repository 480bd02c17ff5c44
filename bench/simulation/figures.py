"""The study of barriers and loops as figures (SVG)."""

import matplotlib.pyplot as plt

from evenkeel_bench.figures import save, use_style

# By the window: label, colour, line, mark.
LEAVING = {
    None: ("strict", "#d55e00", "-", "o"),
    1: ("at once, one call ahead", "#0072b2", "--", "s"),
    16: ("at once, 16 calls ahead", "#009e73", "-", "^"),
}


def write_all(of_barriers, of_loops, folder):
    use_style()
    draw_choices(of_barriers, folder / "choosing.svg")
    for schedule in dict.fromkeys(r["schedule"] for r in of_loops):
        draw_rounds([r for r in of_loops if r["schedule"] == schedule], folder / f"loops-{schedule}.svg")
    draw_times([r for r in of_loops if r["schedule"] == "dissemination"], folder / "tails.svg")


def _plot(axis, points, style, **more):
    x, y = zip(*points, strict=True)
    axis.plot(x, y, style, **more)


def draw_choices(results, path):
    """Completion against n, a line for each number of ranks."""
    machines = list(dict.fromkeys(r["machine"] for r in results))
    size = (3.2 * len(machines), 3.2)
    figure, axes = plt.subplots(1, len(machines), figsize=size, sharey=True, squeeze=False)
    for axis, machine in zip(axes[0], machines, strict=True):
        draw_machine(axis, [r for r in results if r["machine"] == machine])
        axis.set_title(machine)
    axes[0][0].set_ylabel("completion, µs")
    legends = (axis.get_legend_handles_labels() for axis in axes[0])
    axes[0][-1].legend(
        *max(legends, key=lambda found: len(found[1])),
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
        title="solid: n-way\ndotted: n-wise",
    )
    save(figure, path)


def draw_machine(axis, results):
    for i, ranks in enumerate(sorted({r["ranks"] for r in results})):
        for name, style in (("n-way-dissemination", "-"), ("n-wise-exchange", ":")):
            here = [r for r in results if (r["ranks"], r["name"]) == (ranks, name)]
            points = sorted((r["n"], r["calm_us"]) for r in here)
            label = f"{ranks:,} ranks" if style == "-" else None
            more = {"marker": "o", "markersize": 3, "linewidth": 1.2, "color": f"C{i}", "label": label}
            _plot(axis, points, style, **more)
    axis.set_xlabel("n")
    axis.set_xscale("log", base=2)
    axis.set_xticks([1, 2, 4, 8, 15], ["1", "2", "4", "8", "15"])
    axis.grid(True, alpha=0.3)


def _panels(results):
    """A figure with an axis for each kind of work and noise, and the results for it."""
    settings = list(dict.fromkeys((r["compute"], r["noise"]) for r in results))
    figure, axes = plt.subplots(1, len(settings), figsize=(4 * len(settings), 3.2), squeeze=False)
    for axis, setting in zip(axes[0], settings, strict=True):
        axis.set_title(f"{setting[0]} of work, {setting[1]} noise")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xlabel("ranks")
        axis.grid(True, which="major", alpha=0.3)
    of_settings = [[r for r in results if (r["compute"], r["noise"]) == s] for s in settings]
    return figure, axes[0], of_settings


def _finish(figure, axes, label, path):
    ticks = [2, 16, 128, 1024, 8192, 65536, 524288]
    for axis in axes:
        axis.set_xticks(ticks, ["2", "16", "128", "1k", "8k", "64k", "512k"])
        axis.minorticks_off()
    axes[0].set_ylabel(label)
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    save(figure, path)


def draw_rounds(results, path):
    """A round of the loop over its work, against ranks."""
    figure, axes, of_settings = _panels(results)
    for axis, here in zip(axes, of_settings, strict=True):
        for window, (label, colour, style, mark) in LEAVING.items():
            points = [(r["ranks"], r["loop"]) for r in here if r["window"] == window]
            _plot(axis, points, style, marker=mark, markersize=3, color=colour, label=label)
        points = sorted({(r["ranks"], r["alone"]) for r in here})
        _plot(axis, points, ":", color="#555555", label="no rank waits")
    _finish(figure, axes, "a round of the loop, over its work", path)


def draw_times(results, path):
    """How long ranks are in a call: mean, 99th percentile, longest."""
    figure, axes, of_settings = _panels(results)
    for axis, here in zip(axes, of_settings, strict=True):
        for window in (None, 16):
            label, colour, _, mark = LEAVING[window]
            for key, style, what in (
                ("held_us", "-", "mean"),
                ("held_p99_us", "--", "p99"),
                ("held_max_us", ":", "longest"),
            ):
                points = [(r["ranks"], max(r[key], 0.01)) for r in here if r["window"] == window]
                more = {"marker": mark, "markersize": 3, "color": colour, "label": f"{label}: {what}"}
                _plot(axis, points, style, **more)
    _finish(figure, axes, "time in a call, µs", path)
