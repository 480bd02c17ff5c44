"""The studies as tables: the generated page of the book."""


def results(chosen, looped, machines, cluster):
    return (
        "\n\n".join(
            [
                "# Simulated: what to choose, what leaving early is worth",
                "This page is generated: `build/venv-tools/bin/python bench/simulation/study.py`; every command line that it ran, and what came out, is in "
                "`bench/simulation/results.json`. What it means, and what it assumes, is said in [Simulation](simulation.md).",
                "## Choosing n",
                "Completion of one barrier in microseconds: all ranks enter at the same time, no noise; L + 2o is one microsecond everywhere and g = o, so that "
                "only the ratio of L to o differs. *n = 1* is plain dissemination. *best n-way*, *best n-wise*: the best of those n that are the least for their number of rounds, up "
                "to 15. *under noise*: the best n, and its mean completion over that of n = 1, after 1 ms of work with quiet noise.",
                _choices(chosen),
                "Parameters: " + "; ".join(f"{name}: `{given}`" for name, given in machines.items()) + ".",
                "![completion against n](simulation/choosing.svg)",
                "## Leaving barriers at once",
                f"One round of a loop of work and a dissemination barrier, over the work; `{cluster}`. *strict*: ranks stay until all have come. *1*, *16*: ranks leave at "
                "once and may be so many barriers ahead. *alone*: nobody waits for anybody. *held*: mean and longest time of a rank in a strict barrier.",
                _ASSUMED,
                _loops([c for c in looped if c["schedule"] == "dissemination"]),
                "![a round of the loop against ranks](simulation/loops-dissemination.svg)",
                "![time in a call against ranks](simulation/tails.svg)",
                "## Leaving reductions at once",
                "The same with a binomial reduction of 8 bytes to rank 0. With *strict*, inner ranks stay until their children have come; otherwise only the root stays.",
                _loops([c for c in looped if c["schedule"] == "reduce-binomial"]),
                "![a round of the loop against ranks](simulation/loops-reduce-binomial.svg)",
            ]
        )
        + "\n"
    )


_ASSUMED = """Assumed, here and for reductions:

- *quiet* and *busy* are what one virtual machine with two cores lost, in some seconds (`evenkeel noise --trace`); each rank replays one core's trace from a random place, so
  noise of different ranks has nothing to do with each other, and contains nothing that comes once an hour;
- every rank has a processor of its own, and the network no contention: what is lost to waiting is a lower bound;
- ranks that leave at once have an agent that carries out their steps, without noise and other work, and the program never needs what it did not wait for;
- work is the same at each rank and in each round, and ranks begin together;
- fewer rounds of more ranks: from 2000 with up to 500 ranks to 20 from 50,000 on, so that *alone*, the slowest of all ranks, grows with them."""


def _table(head, rows):
    return "\n".join(
        [
            "| " + " | ".join(head) + " |",
            "|" + "---|" * len(head),
            *("| " + " | ".join(r) + " |" for r in rows),
        ]
    )


def _choices(cases):
    rows = []
    for machine, ranks in dict.fromkeys((c["machine"], c["ranks"]) for c in cases):
        of = {
            name: [c for c in cases if (c["machine"], c["ranks"], c["name"]) == (machine, ranks, name)]
            for name in ("n-way-dissemination", "n-wise-exchange")
        }
        way, wise = (min(found, key=lambda c: (c["calm_us"], c["messages"])) for found in of.values())
        plain = next(c for c in of["n-way-dissemination"] if c["n"] == 1)
        noisy = min(of["n-way-dissemination"], key=lambda c: c["noisy_us"])
        rows.append(
            [
                machine,
                f"{ranks:,}",
                f"{plain['calm_us']:.2f}",
                f"n = {way['n']}: {way['calm_us']:.2f}",
                f"{way['calm_us'] / plain['calm_us']:.2f}",
                f"n = {wise['n']}: {wise['calm_us']:.2f}",
                f"n = {noisy['n']}: {noisy['noisy_us'] / plain['noisy_us']:.3f}",
            ]
        )
    return _table(
        ["machine", "ranks", "n = 1", "best n-way", "over n = 1", "best n-wise", "under noise"], rows
    )


def _loops(cases):
    rows = []
    for compute, noise, ranks in dict.fromkeys((c["compute"], c["noise"], c["ranks"]) for c in cases):
        by = {
            c["window"]: c for c in cases if (c["compute"], c["noise"], c["ranks"]) == (compute, noise, ranks)
        }
        strict = by[None]
        rows.append(
            [
                compute,
                noise,
                f"{ranks:,}",
                *(f"{by[w]['loop']:.3g}" if w in by else "-" for w in (None, 1, 16)),
                f"{strict['alone']:.3g}",
                f"{_time(strict['held_us'])}, {_time(strict['held_max_us'])}",
            ]
        )
    return _table(["work", "noise", "ranks", "strict", "1", "16", "alone", "held"], rows)


def _time(us):
    return f"{us:.3g} µs" if us < 1000 else f"{us / 1000:.3g} ms"
