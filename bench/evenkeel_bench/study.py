"""A study of its own: its options, its rounds, and the files that keep what it has found.

A study's folder has results.json, a list of all that was measured, and results.md, the page made of it: what
was run and where, what the numbers are, and tables. A study says what its settings are, what one run gives,
and what its tables show.
"""

import argparse
import dataclasses
import json
import os
import random
import sys
from pathlib import Path

from .checkout import ROOT
from .progress import Progress, say_interrupted

RESULTS, PAGE = "results.json", "results.md"


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """The description as it is written, and the default of each option that has one."""

    def _get_help_string(self, action):
        return super()._get_help_string(action) if action.default else action.help


def numbers(text):
    """The value of an option such as `2,4,8`.

    >>> numbers("2,4,8")
    [2, 4, 8]
    """
    return [int(word) for word in text.split(",")]


@dataclasses.dataclass(frozen=True)
class Study:
    """What a study is called, and which of its options stand in the command on its page."""

    script: Path
    title: str
    shown: tuple = ("rounds", "ranks")

    def parser(self, description, rounds, ranks=None):
        """The options that all studies have; `rounds` and `ranks`: their defaults."""
        p = argparse.ArgumentParser(description=description, formatter_class=HelpFormatter)
        p.add_argument("--rounds", type=int, default=rounds, help="how often each setting runs")
        if ranks:
            p.add_argument("--ranks", type=numbers, default=argument(ranks), help="separated by commas")
        p.add_argument("--seed", type=int, default=1, help="of the order of the settings in each round")
        folder = self.script.parent
        p.add_argument("--results", type=Path, default=folder, help=f"folder for {RESULTS} and {PAGE}")
        return p

    def main(self, parser, measure, told, tables):
        """The whole program.

        `measure(options)` yields lists of what was found; `told`: what the page's numbers are;
        `tables(found)` returns the parts of the page below its head.
        """
        parser.add_argument("--render", action="store_true", help=f"only write {PAGE} again from {RESULTS}")
        options = parser.parse_args()
        if options.render:
            self.render(options, tables)
        else:
            self.run(options, measure, told, tables)

    def run(self, options, measure, told, tables):
        """Keeps what has been found after each part, so that an interrupted study has what is complete."""
        options.results.mkdir(parents=True, exist_ok=True)
        found, page = [], ""
        try:
            for part in measure(options):
                found += part
                page = self.write(options, found, told, tables(found))
        except KeyboardInterrupt:
            say_interrupted(self.script.parent.name)
        sys.stdout.write(page)

    def render(self, options, tables):
        """Writes the page again from the results; what it says of command and machine stays."""
        page = options.results / PAGE
        head = page.read_text().split("\n\n")[1]
        found = json.loads((options.results / RESULTS).read_text())
        page.write_text(self.page(head, tables(found)))

    def write(self, options, found, told, parts):
        """Writes results and page, and returns the page."""
        page = self.page(self.head(options, told), parts)
        options.results.mkdir(parents=True, exist_ok=True)
        (options.results / RESULTS).write_text(json.dumps(found, indent=1) + "\n")
        (options.results / PAGE).write_text(page)
        return page

    def page(self, head, parts):
        return "\n\n".join([f"# {self.title}: results", head, *parts]) + "\n"

    def head(self, options, told):
        cores = len(os.sched_getaffinity(0))
        return f"`{self.command(options)}`, {cores} cores, Linux {os.uname().release}. {told}"

    def command(self, options):
        """The command that measures the same again."""
        words = [str(self.script.relative_to(ROOT))]
        for name in self.shown:
            value = getattr(options, name)
            if value is True:
                words.append(f"--{name}")
            elif value is not False:
                words += [f"--{name}", argument(value)]
        return " ".join(words)


def argument(value):
    """An option's value as it stands on a command line.

    >>> [argument(v) for v in ([2, 4], 1.5, 2.0, "a")]
    ['2,4', '1.5', '2', 'a']
    """
    if isinstance(value, list):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def in_rounds(options, cases, settings, run, expected_s):
    """For each case the list of all that was found: in each round every setting runs once, in random order.

    `cases`: what each is called → the case; `run(case, setting)` returns what it has found, of a run that
    takes about `expected_s`.
    """
    order = random.Random(options.seed)
    with Progress(expected_s * len(cases) * len(settings) * options.rounds) as progress:
        for name, case in cases.items():
            found = []
            for _ in range(options.rounds):
                for setting in order.sample(settings, len(settings)):
                    progress.begin(f"{name}, {setting}")
                    found += run(case, setting)
                    progress.advance(expected_s)
            yield found
