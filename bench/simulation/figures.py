"""The studies as pictures (SVG)."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

LEAVING = {
    None: ("strict", "#d55e00", "-", "o"),
    1: ("at once, one call ahead", "#0072b2", "--", "s"),
    16: ("at once, 16 calls ahead", "#009e73", "-", "^"),
}


def write_all(chosen, looped, folder):
    plt.rcParams |= {
        "font.size": 9,
        "svg.fonttype": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "evenkeel",
    }
    _choosing(chosen, folder / "choosing.svg")
    for schedule in dict.fromkeys(c["schedule"] for c in looped):
        _loops([c for c in looped if c["schedule"] == schedule], folder / f"loops-{schedule}.svg")
    _tails([c for c in looped if c["schedule"] == "dissemination"], folder / "tails.svg")


def _save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _choosing(cases, path):
    """Completion against n, a line for each number of ranks."""
    machines = list(dict.fromkeys(c["machine"] for c in cases))
    figure, axes = plt.subplots(
        1, len(machines), figsize=(3.2 * len(machines), 3.2), sharey=True, squeeze=False
    )
    for axis, machine in zip(axes[0], machines):
        for i, ranks in enumerate(sorted({c["ranks"] for c in cases if c["machine"] == machine})):
            for name, style in (("n-way-dissemination", "-"), ("n-wise-exchange", ":")):
                points = sorted(
                    (c["n"], c["calm_us"])
                    for c in cases
                    if (c["machine"], c["ranks"], c["name"]) == (machine, ranks, name)
                )
                axis.plot(
                    *zip(*points),
                    style,
                    marker="o",
                    markersize=3,
                    linewidth=1.2,
                    color=f"C{i}",
                    label=f"{ranks:,} ranks" if style == "-" else None,
                )
        axis.set_title(machine)
        axis.set_xlabel("n")
        axis.set_xscale("log", base=2)
        axis.set_xticks([1, 2, 4, 8, 15], ["1", "2", "4", "8", "15"])
        axis.grid(True, alpha=0.3)
    axes[0][0].set_ylabel("completion, µs")
    handles, labels = max(
        (axis.get_legend_handles_labels() for axis in axes[0]), key=lambda found: len(found[1])
    )
    axes[0][-1].legend(
        handles,
        labels,
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
        title="solid: n-way\ndotted: n-wise",
    )
    _save(figure, path)


def _panels(cases):
    settings = list(dict.fromkeys((c["compute"], c["noise"]) for c in cases))
    figure, axes = plt.subplots(1, len(settings), figsize=(4 * len(settings), 3.2), squeeze=False)
    return figure, axes[0], settings


def _ranks_axis(axis):
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xticks([2, 16, 128, 1024, 8192, 65536, 524288], ["2", "16", "128", "1k", "8k", "64k", "512k"])
    axis.minorticks_off()
    axis.set_xlabel("ranks")
    axis.grid(True, which="major", alpha=0.3)


def _loops(cases, path):
    """A round of the loop over its work, against ranks."""
    figure, axes, settings = _panels(cases)
    for axis, setting in zip(axes, settings):
        of = [c for c in cases if (c["compute"], c["noise"]) == setting]
        for window, (label, colour, style, mark) in LEAVING.items():
            points = [(c["ranks"], c["loop"]) for c in of if c["window"] == window]
            axis.plot(*zip(*points), style, marker=mark, markersize=3, color=colour, label=label)
        points = sorted({(c["ranks"], c["alone"]) for c in of})
        axis.plot(*zip(*points), ":", color="#555555", label="nobody waits")
        _ranks_axis(axis)
        axis.set_title(f"{setting[0]} of work, {setting[1]} noise")
    axes[0].set_ylabel("a round of the loop, over its work")
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    _save(figure, path)


def _tails(cases, path):
    """How long ranks are in a call: mean, 99th percentile, longest."""
    figure, axes, settings = _panels(cases)
    for axis, setting in zip(axes, settings):
        of = [c for c in cases if (c["compute"], c["noise"]) == setting]
        for window in (None, 16):
            label, colour, _, mark = LEAVING[window]
            for key, style, said in (
                ("held_us", "-", "mean"),
                ("held_p99_us", "--", "p99"),
                ("held_max_us", ":", "longest"),
            ):
                points = [(c["ranks"], max(c[key], 0.01)) for c in of if c["window"] == window]
                axis.plot(
                    *zip(*points), style, marker=mark, markersize=3, color=colour, label=f"{label}: {said}"
                )
        _ranks_axis(axis)
        axis.set_title(f"{setting[0]} of work, {setting[1]} noise")
    axes[0].set_ylabel("time in a call, µs")
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    _save(figure, path)
