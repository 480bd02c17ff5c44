//! Why the pipelined broadcast cannot deadlock, shown on algorithms that can: two ranks that each
//! broadcast a vector in segments and have one buffer for the segments of the other.

use evenkeel_schedule::check::{CheckError, Interleaving, explore, run};
use evenkeel_schedule::{
    Algorithm, Collective, CombiningOrder, Flag, Place, Problem, Rank, Resources, Round, Schedule, Step,
};

const BOTH: Algorithm = Algorithm {
    name: "two-broadcasts",
    collective: Collective::Allgather,
    order: CombiningOrder::Nothing,
    about: "",
    source: "",
    cost: "",
    parameters: &[],
    resources: |problem| Resources {
        turns: problem.elements as u16,
        ..Resources::flags(2 * problem.elements, 2).and_scratch(1)
    },
    round: |_, _, _, _| {},
};

const DATA: Flag = Flag(0);
const CREDIT: Flag = Flag(1);

/// Sends an element once the other rank has returned its one buffer.
fn send(problem: &Problem, rank: Rank, element: u32, out: &mut Round) {
    let (to, turn) = (Rank(1 - rank.0), element as u16 + 1);
    out.copy(Place::input(element), Place::output(rank.0 * problem.elements + element), 1);
    out.wait_turn(CREDIT, turn - 1);
    out.push(Step::Send {
        to,
        flag: DATA,
        turn,
        is_repeat: false,
        from: Place::input(element),
        at: Place::scratch(0),
        length: 1,
    });
}

/// Takes an element and returns the buffer.
fn take(problem: &Problem, rank: Rank, element: u32, out: &mut Round) {
    let from = Rank(1 - rank.0);
    out.wait_turn(DATA, element as u16 + 1);
    out.copy(Place::scratch(0), Place::output(from.0 * problem.elements + element), 1);
    out.put_turn(from, CREDIT, element as u16 + 1);
}

/// Takes nothing while a message is open, as in Fast Messages.
static SEND_ALL_FIRST: Algorithm = Algorithm {
    round: |problem, rank, round, out| match round.checked_sub(problem.elements) {
        None => send(problem, rank, round, out),
        Some(element) => take(problem, rank, element, out),
    },
    ..BOTH
};

/// Takes what has arrived before it asks for another buffer.
static TAKE_FIRST: Algorithm = Algorithm {
    round: |problem, rank, round, out| match round % 2 {
        0 => send(problem, rank, round / 2, out),
        _ => take(problem, rank, round / 2, out),
    },
    ..BOTH
};

fn schedule(algorithm: &'static Algorithm, segments: u32) -> Schedule {
    Schedule::new(algorithm, Problem::new(2).with_elements(segments), &[]).unwrap()
}

#[test]
fn taking_nothing_while_sending_deadlocks_if_there_are_more_segments_than_buffers() {
    assert!(run(&schedule(&SEND_ALL_FIRST, 1), 3, Interleaving::Prompt).is_ok());
    let found = run(&schedule(&SEND_ALL_FIRST, 2), 3, Interleaving::Prompt).err();
    assert!(
        matches!(found, Some(CheckError::Deadlock { waiting: 2, step: Step::Wait { flag: CREDIT, .. }, .. })),
        "{found:?}"
    );
}

#[test]
fn returning_buffers_before_asking_for_one_does_not_deadlock() {
    for segments in 1..6 {
        assert!(run(&schedule(&TAKE_FIRST, segments), 3, Interleaving::Prompt).is_ok());
    }
    let schedule = schedule(&TAKE_FIRST, 3);
    let explored = explore(&schedule, 2, 200_000).unwrap();
    assert!(!explored.cut_off && explored.ends > 0, "{explored:?}");
}
