"""Slow barriers and efficiency by the computation between two barriers, with the fitted model (SVG)."""

import matplotlib.pyplot as plt

from evenkeel_bench.figures import errors, save, use_style
from evenkeel_bench.statistics import spread

from . import fits, plan
from .plan import DEFERRED, HOST, STRICT
from .record import NAMES, WHEN, slow_points, values

COLOURS = {HOST: "#d55e00", STRICT: "#0072b2", DEFERRED: "#009e73"}


def draw(record, path):
    use_style()
    figure, axes = plt.subplots(2, len(plan.CONDITIONS), figsize=(9, 5), sharex=True, sharey="row")
    for column, condition in enumerate(plan.CONDITIONS):
        axes[0][column].set_title(f"{WHEN[condition]}, {record['cores']} ranks", fontsize=9)
        for kind in plan.BARRIERS:
            _line(axes[0][column], record, kind, condition, "slow")
            _model(axes[0][column], record, kind, condition)
            _line(axes[1][column], record, kind, condition, "efficiency")
        axes[1][column].set_xlabel("computation between barriers, µs")
        axes[1][column].set_xscale("log")
    axes[0][0].set_ylabel("slow barriers, %")
    axes[1][0].set_ylabel("efficiency, %")
    axes[1][0].set_ylim(0, 120)
    axes[0][0].plot([], [], color="#555555", linestyle=":", label="fitted model")
    axes[0][0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    save(figure, path)


def _runs(record, kind, condition):
    return [plan.barrier(record["cores"], kind, condition, us) for us in plan.COMPUTED_US if us]


def _line(axis, record, kind, condition, name):
    found = []
    for run in _runs(record, kind, condition):
        s = spread([100 * v for v in values(record["rounds"], run, name)])
        found += [(run.computed_us, s)] if s else []
    if found:
        x, spreads = [us for us, _ in found], [s for _, s in found]
        medians = [s.median for s in spreads]
        style = {"color": COLOURS[kind], "marker": "o", "markersize": 3, "capsize": 2}
        axis.errorbar(x, medians, errors(spreads), label=NAMES[kind], **style)


def _model(axis, record, kind, condition):
    found = slow_points(record["rounds"], _runs(record, kind, condition))
    if found:
        alpha, _ = fits.fit_alpha(found)
        x = [us for us in plan.COMPUTED_US if us]
        y = [100 * fits.slow_fraction(us * plan.ITERATIONS_PER_US, record["cores"], alpha) for us in x]
        axis.plot(x, y, color=COLOURS[kind], linestyle=":", linewidth=1)
