"""The style of all figures. The same numbers give the same file."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

STYLE = {
    "font.size": 9,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "evenkeel",
}


def use_style():
    plt.rcParams |= STYLE


def save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def errors(spreads):
    """Error bars from the median to the lowest and the highest, as matplotlib takes them."""
    return [s.median - s.low for s in spreads], [s.high - s.median for s in spreads]
