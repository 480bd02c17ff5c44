"""The page that machine.py makes: this machine measured, and what is predicted from that."""

import re


def page(record):
    parameters = record["parameters"]
    found = parameters["measurement"]
    conditions = found["conditions"]
    return f"""# Measured here: parameters, noise, and what they predict

This page is generated: `build/venv-tools/bin/python bench/simulation/machine.py`; all numbers are in `bench/simulation/machine-record.json`. {
        conditions["processor"]
    },
{conditions["kernel"]}, {len(conditions["cores"])} cores; load {record["load"][0]:.1f} before and {
        record["load"][1]:.1f} after, {_plural(round(record["elapsed_s"] / 60), "minute")}{
        ". **A short run, to see that the command works: its numbers are no basis for anything**"
        if record["quick"]
        else ""
    }. What the columns mean is said in
[Models](models.md), [Simulation](simulation.md) and [Tuning](tuning.md).

# # Parameters

`{conditions["command"]}`

{_table(["", "", "value", "95% interval", "from"], [_estimate(e) for e in found["estimates"]])}

What these predict without having seen it:

{_table(["", "predicted", "measured", "off by"], [_check(c) for c in found["checks"]])}

{_notes(found["notes"])}## Noise

`evenkeel noise --seconds {record["noise"]["seconds"]} --trace bench/simulation/noise-now.json`: {
        record["noise"]["share"]:.2%} of the time lost, {
        record["noise"]["gaps_per_second"]:,.0f} gaps a second, the longest {
        _time(record["noise"]["longest_ns"])
    }.

A loop of 1 ms of work and a dissemination barrier, simulated on `L=1.5us,o=300ns,g=200ns,G=80ps` under this noise and under the one that [the study](simulation-results.md)
has: a round over its work. *alone*: nobody waits for anybody. Noise of different ranks is independent, and each rank replays one core's trace from a random place.

{
        _table(
            ["ranks", "study: strict", "16 ahead", "alone", "now: strict", "16 ahead", "alone"],
            _loops(record["loops"]),
        )
    }

# # Simulated and measured

{_body(record["measured"])}
Every barrier in the engine beside the simulator, as times the built-in way; all of them are in `bench/tuning/measured.md`.

{
        _table(
            [
                "ranks",
                "built-in way",
                "off by, median",
                "at worst",
                "fastest schedule",
                "measured",
                "simulated",
            ],
            _tuned(record["tuned"]),
        )
    }

# # What a million ranks take to simulate

`evenkeel simulate dissemination --ranks 1000000 --iterations 1`: {_million(record["million"])}
"""


def _million(m):
    rate = m["messages"] / m["processor_s"] / 1e6
    return (
        f"{m['elapsed_s']:.1f} s, {m['processor_s']:.1f} s of processor time, {m['mib']:,.0f} MiB, {m['messages'] / 1e6:.0f} million messages: "
        f"{rate:.1f} million a second of processor time (wanted: 20 s, 8 GiB, 5 million)."
    )


def _estimate(e):
    number = lambda x: f"{x:.3g} {e['unit']}" if x < 1000 else f"{x:,.0f} {e['unit']}"
    return [
        e["symbol"],
        e["name"],
        number(e["value"]),
        f"{number(e['low'])} to {number(e['high'])}",
        e["from"],
    ]


def _check(c):
    what = (
        f"{c['what']}, {_plural(c['peers'], 'peer')}" if c["bytes"] == 0 else f"message of {c['bytes']:,} B"
    )
    return [
        what,
        _time(c["predicted_ns"]),
        _time(c["measured_ns"]),
        f"{c['predicted_ns'] / c['measured_ns'] - 1:+.0%}",
    ]


def _loops(cases):
    for ranks in dict.fromkeys(c["ranks"] for c in cases):
        row = [f"{ranks:,}"]
        for noise in dict.fromkeys(c["noise"] for c in cases):
            strict, ahead = (
                next(c for c in cases if (c["ranks"], c["noise"], c["window"]) == (ranks, noise, window))
                for window in (None, 16)
            )
            row += [f"{strict['loop']:.3g}", f"{ahead['loop']:.3g}", f"{strict['alone']:.3g}"]
        yield row


def _tuned(text):
    """A row for each number of ranks, from the page of bench/tuning/measured.py."""
    for part in text.split("\n## ")[1:]:
        ranks = part.split(" ", 1)[0]
        said = re.search(
            r"takes ([\d.e+]+ µs)\. The simulated ratio is off by (\S+) in the median, by (\S+) at worst",
            part,
        )
        rows = [
            line.strip("| ").split(" | ")
            for line in part.splitlines()
            if line.startswith("| ") and not line.startswith("| schedule")
        ]
        name, measured, _, simulated, _ = rows[0] if rows else ["-"] * 5
        yield [ranks, said[1], said[2], said[3], name, measured, simulated]


def _notes(notes):
    return "".join(f"- {note}\n" for note in notes) + ("\n" if notes else "")


def _body(text):
    """A page without its heading."""
    return text.split("\n", 2)[2]


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _plural(number, word):
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _time(ns):
    for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6)):
        if ns < 1000 * size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"
