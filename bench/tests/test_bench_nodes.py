"""Targets, tables and plan of the benchmark on several hosts, tested on made-up rows."""

import doctest

from nodes import agents as agent_watch
from nodes import plan, tables, targets
from nodes.rows import Rows


def latency(setting, round_, value, op="barrier", bytes_=0, hosts=4, per_host=1):
    return {
        "section": "collectives",
        "setting": setting,
        "round": round_,
        "op": op,
        "bytes": bytes_,
        "hosts": hosts,
        "per_host": per_host,
        "variant": "",
        "mean_us": value,
        "completion_us": value,
    }


def by_name(rows):
    return {j.what: j for j in targets.judge(Rows(rows))}


def test_the_best_library_is_that_of_the_same_round():
    rows = [
        latency("openmpi4", 1, 10),
        latency("impi", 1, 20),
        latency("openmpi4", 2, 200),
        latency("impi", 2, 100),
        latency("openmpi4+evenkeel", 1, 7),
        latency("openmpi4+evenkeel", 2, 70),
    ]
    judged = by_name(rows)["barrier , openmpi4+evenkeel"]
    assert judged.is_met and abs(judged.value - 0.7) < 1e-9


def test_one_cell_above_the_limit_is_a_miss():
    rows = [
        latency("openmpi4", 1, 10),
        latency("openmpi4+evenkeel", 1, 1),
        latency("openmpi4", 1, 10, hosts=8),
        latency("openmpi4+evenkeel", 1, 9, hosts=8),
    ]
    judged = by_name(rows)["barrier , openmpi4+evenkeel"]
    assert judged.is_met is False and "1 of 2 cells" in judged.text


def stopped(setting, variant, seconds):
    return {
        "section": "stopped",
        "setting": setting,
        "round": 1,
        "op": "stopped",
        "bytes": 0,
        "hosts": 8,
        "per_host": 1,
        "variant": variant,
        "others_s": seconds,
    }


def test_the_loss_by_a_stopped_host_is_taken_within_a_round():
    rows = [
        stopped("openmpi4", "undisturbed", 2.0),
        stopped("openmpi4", "stopped", 2.4),
        stopped("openmpi4+evenkeel", "undisturbed", 2.0),
        stopped("openmpi4+evenkeel", "stopped", 2.02),
    ]
    judged = by_name(rows)["a host stopped 100 ms of each second: what the others lose, openmpi4+evenkeel"]
    assert judged.is_met and judged.text == "1.0%; the best library 20.0%"


def agents(hosts, counted, messages, us):
    return {
        "section": "collectives",
        "setting": "openmpi4+evenkeel",
        "round": 1,
        "op": "agents",
        "bytes": 0,
        "hosts": hosts,
        "per_host": 1,
        "variant": "",
        "agents": hosts,
        "cpu_ms": 1.0,
        "peak_mib": 14.0,
        "idle_percent": None,
        "messages": messages,
        "handling_us": us,
        "agents_counted": counted,
    }


def test_a_run_without_the_counts_of_all_agents_is_left_out():
    name = "agent's processor time for a message sent or received, openmpi4+evenkeel"
    judged = by_name([agents(4, 4, 1000, 4000), agents(4, 3, 1000, 90000)])[name]
    assert judged.is_met and judged.value == 4 and "1 runs, 1,000 messages" in judged.text
    assert by_name([agents(4, 4, 1000, 6000)])[name].is_met is False
    assert name not in by_name([agents(4, 3, 1000, 90000)])


def test_the_table_says_that_there_was_no_agent():
    judged = by_name([latency("openmpi4+evenkeel", 1, 1)])["agent, openmpi4+evenkeel"]
    assert judged.is_met is None and "evenkeel-agent" in judged.text


def test_runs_that_were_cut_off_are_in_the_table():
    rows = Rows([latency("openmpi4", 1, 10) | {"op": "run", "reason": "cut off after 15 s"}])
    assert "cut off after 15 s" in tables.write(
        rows, [], [], {"impi": "not installed"}, []
    ) and "not installed" in tables.missing(rows, {"impi": "not installed"})


def test_the_share_of_an_idle_agent_is_that_of_the_quietest_second():
    assert doctest.testmod(agent_watch).failed == 0


def test_the_same_seed_gives_the_same_order():
    assert plan.rounds(plan.QUICK, [], 2, 3) == plan.rounds(plan.QUICK, [], 2, 3)
