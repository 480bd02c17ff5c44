//! All histories of a few events among three processes, each in every possible order of its steps.

use crate::interleaving::Interleaved;
use crate::model::{Group, LeftOut, Scenario, Step, Step::*};

const PROCESSES: usize = 3;
/// All three, two pairs that overlap, and through the first one groups that contain each other.
const GROUPS: [Group; 3] = [0b111, 0b011, 0b110];

/// Something that happens at one place of a history: the step that each process takes, if any.
type Event = [Option<Step>; PROCESSES];

fn members(group: usize) -> impl Iterator<Item = usize> {
    (0..PROCESSES).filter(move |p| GROUPS[group] >> p & 1 != 0)
}

fn by(process: usize, step: Step) -> Event {
    let mut event = [None; PROCESSES];
    event[process] = Some(step);
    event
}

fn by_members(group: usize, step: Step) -> Event {
    let mut event = [None; PROCESSES];
    members(group).for_each(|p| event[p] = Some(step));
    event
}

fn barriers_and_messages() -> Vec<Event> {
    let mut events: Vec<Event> = (0..GROUPS.len()).map(|group| by_members(group, Barrier(group))).collect();
    for p in 0..PROCESSES {
        events.push(by(p, Look));
        events.extend((0..PROCESSES).filter(|&to| to != p).map(|to| by(p, Send(to))));
    }
    events
}

fn all_events() -> Vec<Event> {
    let mut events = barriers_and_messages();
    for group in 0..GROUPS.len() {
        for root in members(group) {
            events.push(by_members(group, Broadcast(group, root)));
            events.push(by_members(group, Reduce(group, root)));
        }
    }
    events
}

fn is_barrier(event: &Event) -> bool {
    event.iter().flatten().any(|step| matches!(step, Barrier(_)))
}

/// Of histories that differ only in the order of neighbours without a process in common, one is enough: they
/// are the same programs.
fn is_canonical(history: &[usize], next: usize, events: &[Event]) -> bool {
    let Some(&last) = history.last() else { return true };
    let is_shared = |p: usize| events[last][p].is_some() && events[next][p].is_some();
    last <= next || (0..PROCESSES).any(is_shared)
}

fn scenario(history: &[usize], events: &[Event], left_out: LeftOut) -> Scenario {
    let program = |p: usize| history.iter().filter_map(|&e| events[e][p]).collect();
    let programs = (0..PROCESSES).map(program).collect();
    Scenario { groups: GROUPS.to_vec(), programs, window: 2, left_out }
}

/// Explores all histories of `length` of these events that have a barrier. Returns how many there are, or
/// what goes wrong in the first that does.
fn explore_all(events: &[Event], length: usize, left_out: LeftOut) -> Result<usize, String> {
    let mut open = vec![Vec::new()];
    let mut explored = 0;
    while let Some(history) = open.pop() {
        if history.len() == length {
            if !history.iter().any(|&e| is_barrier(&events[e])) {
                continue; // nothing is ever pending
            }
            let scenario = scenario(&history, events, left_out);
            scenario.explore().map_err(|e| format!("{:?}: {e}", scenario.programs))?;
            explored += 1;
            continue;
        }
        for next in (0..events.len()).filter(|&next| is_canonical(&history, next, events)) {
            open.push(history.iter().copied().chain([next]).collect());
        }
    }
    Ok(explored)
}

#[test]
fn no_order_of_the_steps_of_a_small_history_shows_a_difference() {
    let explored = explore_all(&all_events(), 3, LeftOut::Nothing).unwrap();
    assert!(explored > 4_000, "{explored}");
    let explored = explore_all(&barriers_and_messages(), 4, LeftOut::Nothing).unwrap();
    assert!(explored > 5_000, "{explored}");
}

#[test]
#[ignore = "two minutes without optimization: cargo test --release -p evenkeel-engine -- --ignored"]
fn no_order_of_the_steps_of_a_longer_history_shows_a_difference() {
    explore_all(&all_events(), 4, LeftOut::Nothing).unwrap();
}

#[test]
fn small_histories_show_that_each_rule_is_needed() {
    for rule in LeftOut::RULES {
        let found = explore_all(&all_events(), 3, rule).and(explore_all(&barriers_and_messages(), 4, rule));
        assert!(found.is_err(), "{rule:?} makes no difference in {found:?} histories");
    }
}
