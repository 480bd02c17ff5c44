"""Rows from evenkeel's own report of a run: memory, and which calls it carried out."""

import json


def rows_of_report(path, task, round_):
    """The row that this task's section needs; a row with a reason if there is no report."""
    try:
        report = json.loads(path.read_text())
        return [
            _deferral(report, task, round_) if task.section == "deferred" else _memory(report, task, round_)
        ]
    except (OSError, ValueError, LookupError) as error:
        return [_common(task, round_) | {"reason": f"no record of the run: {error}"}]


def _common(task, round_):
    is_deferral = task.section == "deferred"
    return {
        "round": round_,
        "section": "deferred" if is_deferral else "collectives",
        "configuration": task.configuration,
        "ranks": task.ranks,
        "variant": task.variant if is_deferral else "",
        "op": "deferral" if is_deferral else "memory",
    }


def _deferral(report, task, round_):
    """How many barriers were left pending, of all ranks."""
    comms = [comm for rank in report["ranks"] for comm in rank["comms"]]
    barriers = [entry for comm in comms for entry in comm["ops"] if entry["op"] == "barrier"]
    return _common(task, round_) | {
        "calls": sum(entry["calls"] for entry in barriers),
        "deferred": sum(entry["deferred"] for entry in barriers),
    }


def _memory(report, task, round_):
    """Memory of the segment, and which calls were left to the host library, on rank 0's communicators."""
    comms = report["ranks"][0]["comms"]
    per_rank = [c["segment_bytes"] / len(c["members"]) for c in comms if c["segment_bytes"]]
    entries = [entry for c in comms for entry in c["ops"]]
    return _common(task, round_) | {
        "segment_bytes_per_rank": max(per_rank) if per_rank else None,
        "calls": sum(entry["calls"] for entry in entries),
        "host_calls": sum(entry["host_calls"] for entry in entries),
        "reason": "; ".join(sorted({c["host_reason"] for c in comms if c["host_reason"]})),
    }
