"""The progress bar of a benchmark, in expected seconds, and the sentences at its end."""

import sys

from tqdm import tqdm


class Progress:
    """A bar; a context manager."""

    def __init__(self, expected_s):
        self._is_terminal = sys.stderr.isatty()
        self._bar = tqdm(
            total=round(expected_s, 1),
            unit="s",
            smoothing=0.05,
            dynamic_ncols=True,
            mininterval=0.1 if self._is_terminal else 30,
            bar_format="{percentage:3.0f}% |{bar}| {elapsed} gone, {remaining} to go  {desc}",
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._bar.close()

    def begin(self, what):
        """Says what runs now."""
        self._bar.set_description_str(what, refresh=self._is_terminal)

    def say(self, line):
        """Writes a line above the bar."""
        self._bar.write(line, file=sys.stderr)

    def advance(self, seconds):
        self._bar.update(min(seconds, self._bar.total - self._bar.n))


INTERRUPTED = "**interrupted**: not all rounds were run"


def say_interrupted(name):
    print(f"{name}: interrupted; writing the results so far", file=sys.stderr)
