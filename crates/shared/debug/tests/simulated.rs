//! The analysis against a simulator that knows which rank waited for which.

mod simulator;

use evenkeel_debug::analysis::Analysis;
use evenkeel_debug::build;
use evenkeel_debug::path::{Doing, Segment};
use evenkeel_debug::run::Place;
use evenkeel_debug::why::why;
use simulator::{Outcome, Program};

const PROGRAMS: u64 = 200;

fn analysis(program: &Program, outcome: &Outcome) -> Analysis {
    Analysis::of(build::run(&program.times(outcome)))
}

fn places(analysis: &Analysis) -> impl Iterator<Item = Place> {
    let lanes = analysis.run.lanes.iter().enumerate();
    lanes.flat_map(|(lane, it)| (0..it.calls() as u32).map(move |call| Place { lane: lane as u32, call }))
}

#[test]
fn every_wait_is_as_long_as_in_the_simulation_and_for_the_right_call() {
    let mut waits = 0;
    for seed in 0..PROGRAMS {
        let program = Program::random(seed);
        let outcome = program.run();
        let analysis = analysis(&program, &outcome);
        for place in places(&analysis) {
            let (rank, call) = (place.lane as usize, place.call as usize);
            let expected = outcome.ready[rank][call] - outcome.begin[rank][call];
            let found = analysis.waits.length(&analysis.run, place);
            let what = &program.ranks[rank][call].action;
            assert_eq!(found, expected, "program {seed}, rank {rank}, call {call}: {what:?}");
            if let Some(wait) = analysis.waits.get(place) {
                assert_eq!(analysis.run.begin(wait.cause), outcome.ready[rank][call], "program {seed}");
                waits += 1;
            }
        }
    }
    assert!(waits > 2500, "{waits} waits");
}

#[test]
fn the_critical_path_is_as_long_as_the_run_and_has_no_waiting() {
    for seed in 0..PROGRAMS {
        let program = Program::random(seed);
        let outcome = program.run();
        let analysis = analysis(&program, &outcome);
        let length: i64 = analysis.path.iter().map(|segment| segment.to - segment.from).sum();
        assert_eq!(length, outcome.makespan(), "program {seed}");
        let mut at = 0;
        for segment in &analysis.path {
            assert_eq!(segment.from, at, "program {seed}: a gap");
            at = segment.to;
            if let Doing::Call(call) = segment.doing {
                assert!(
                    segment.from >= outcome.ready[segment.lane as usize][call as usize],
                    "program {seed}"
                );
            }
        }
    }
}

/// The program with more to do in a piece of the path.
fn lengthened(program: &Program, segment: &Segment, by: i64) -> Program {
    let mut program = program.clone();
    let calls = &mut program.ranks[segment.lane as usize];
    match segment.doing {
        Doing::Call(call) => calls[call as usize].cost += by,
        Doing::Outside(call) => calls[call as usize].work += by,
    }
    program
}

#[test]
fn more_work_on_the_critical_path_makes_the_run_longer_by_just_that() {
    for seed in 0..PROGRAMS / 4 {
        let program = Program::random(seed);
        let outcome = program.run();
        for segment in analysis(&program, &outcome).path {
            let longer = lengthened(&program, &segment, 17).run();
            assert_eq!(longer.makespan(), outcome.makespan() + 17, "program {seed}: {segment:?}");
        }
    }
}

#[test]
fn a_chain_covers_the_wait_and_its_culprit_decides_when_the_wait_ends() {
    let mut chains = 0;
    for seed in 0..PROGRAMS / 4 {
        let program = Program::random(seed);
        let outcome = program.run();
        let analysis = analysis(&program, &outcome);
        for place in places(&analysis) {
            let why = why(&analysis.run, &analysis.waits, place);
            let waited = analysis.waits.length(&analysis.run, place);
            let covered: i64 = why.segments.iter().map(|segment| segment.to - segment.from).sum();
            assert_eq!(covered, waited, "program {seed}, {place:?}");
            assert_eq!(why.links.is_empty(), waited == 0);
            for pair in why.links.windows(2) {
                assert_eq!(pair[0].cause.lane, pair[1].waiting.lane, "program {seed}: the chain is broken");
            }
            let Some(culprit) = why.culprit else { continue };
            let longer = lengthened(&program, &culprit.segment, 1000).run();
            let (rank, call) = (place.lane as usize, place.call as usize);
            assert!(
                longer.ready[rank][call] >= outcome.ready[rank][call] + 1000,
                "program {seed}, {place:?}"
            );
            chains += usize::from(why.links.len() > 1);
        }
    }
    assert!(chains > 50, "{chains} chains of several links");
}

#[test]
fn supersteps_cover_the_run_up_to_the_last_cut_and_know_the_work() {
    for seed in 0..PROGRAMS / 4 {
        let program = Program::random(seed);
        let outcome = program.run();
        let analysis = analysis(&program, &outcome);
        let steps = &analysis.supersteps;
        assert!(steps.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!(steps[0].from, 0);
        let finalize = outcome.begin.iter().map(|calls| *calls.last().unwrap()).max().unwrap();
        assert_eq!(steps.last().unwrap().to, finalize, "program {seed}");
        let work: i64 = program.ranks.iter().flatten().map(|call| call.work).sum();
        let ranks = program.ranks.len() as i64;
        let mean: i64 = steps.iter().map(|step| step.mean_work).sum();
        let rounding = steps.len() as i64;
        assert!((work / ranks - mean).abs() <= rounding, "program {seed}: {work} / {ranks}, {mean}");
        assert!(steps.iter().all(|step| (0.0..=1.0).contains(&step.imbalance())));
    }
}
