"""Rows of the benchmark on several hosts, with the questions that tables and targets ask of them. Pure."""

from evenkeel_bench.statistics import best_by_round, ratio_by_round


def is_evenkeel(name):
    return name.endswith("+evenkeel")


def is_library(name):
    return not is_evenkeel(name)


class Rows(list):
    """Dictionaries, one per round, setting, hosts, ranks on each, and operation."""

    def where(self, **wanted):
        return Rows(row for row in self if all(row.get(key) == value for key, value in wanted.items()))

    def series(self, stat, **wanted):
        """Round → value."""
        return {row["round"]: row[stat] for row in self.where(**wanted) if row.get(stat) is not None}

    def names(self, is_chosen=lambda name: True, **wanted):
        """Names of settings, without the floor."""
        names = {row["setting"] for row in self.where(**wanted)} - {"floor"}
        return sorted(name for name in names if is_chosen(name))

    def cells(self, **wanted):
        """(hosts, ranks on each) of these rows, sorted."""
        return sorted({(row["hosts"], row["per_host"]) for row in self.where(**wanted)})


def to_best(rows, stat, ours, **wanted):
    """Spread over the rounds of evenkeel's value to the best library's; None where one is missing."""
    libraries = rows.names(is_library, **wanted)
    best = best_by_round(rows.series(stat, setting=name, **wanted) for name in libraries)
    return ratio_by_round(rows.series(stat, setting=ours, **wanted), best)


def loss_by_round(rows, setting):
    """Round → how much longer the others' loop takes when a host is stopped, in per cent."""
    stopped, undisturbed = (
        rows.series("others_s", section="stopped", setting=setting, variant=variant)
        for variant in ("stopped", "undisturbed")
    )
    return {r: (stopped[r] / undisturbed[r] - 1) * 100 for r in stopped if undisturbed.get(r)}
