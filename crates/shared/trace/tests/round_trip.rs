//! What is recorded comes back; what is cut or changed is refused, and never makes the reader panic.

use evenkeel_random::Random as Rng;
use evenkeel_trace::choice::{ALL, Choice, Envelope, Values};
use evenkeel_trace::divergence::Divergence;
use evenkeel_trace::format::{self, HEADER_BYTES, LIVE_OFFSET, LibraryClock, LibrarySource, Live, Start};
use evenkeel_trace::rank_file::RankFileError;
use evenkeel_trace::recorder::{Posted, Recorder, Store};
use evenkeel_trace::replayer::{Answer, Replayer};
use evenkeel_trace::trace::{Resolution, Trace};

/// A file in memory that may grow to a limit.
struct Memory {
    bytes: Vec<u8>,
    limit: usize,
}

impl Memory {
    fn new(start: &Start) -> Memory {
        Memory { bytes: format::header(start), limit: usize::MAX }
    }
}

impl Store for Memory {
    fn append(&mut self, records: &[u8]) -> bool {
        let has_room = self.bytes.len() + records.len() <= self.limit;
        if has_room {
            self.bytes.extend_from_slice(records);
        }
        has_room
    }
    fn set_live(&mut self, live: &Live) {
        let live = format::live_bytes(live);
        self.bytes[LIVE_OFFSET..LIVE_OFFSET + live.len()].copy_from_slice(&live);
    }
    fn seal(&self, live: &Live) -> Option<u64> {
        Some(format::seal(&self.bytes, live))
    }
}

/// What a rank does.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Post,
    Match(u64, Envelope),
    Cancel(u64),
    Miss,
    Find(Choice, Vec<i64>),
    Clock(u64),
    Init,
    LibraryClock(LibraryClock, i64),
    LibraryBytes(LibrarySource, Vec<u8>),
    Send(i32, Vec<u8>),
    Receive(i32, Vec<u8>),
    Over,
}

fn values(choice: Choice, rng: &mut Rng) -> Vec<i64> {
    match choice.values() {
        Values::Nothing => vec![],
        Values::Index => vec![rng.below(300) as i64],
        Values::Indices => {
            let count = rng.below(5);
            let indices = (1..count).map(|_| rng.below(1000) as i64);
            [count as i64].into_iter().chain(indices.collect::<Vec<_>>()).collect()
        }
        Values::Envelope => vec![rng.below(200) as i64 - 1, rng.below(40_000) as i64],
    }
}

fn envelope(rng: &mut Rng) -> Envelope {
    Envelope { source: rng.below(300) as i32, tag: rng.below(3) as i32 * 20_000 }
}

/// Random steps: each receive is resolved at most once, after it has been posted.
fn steps(rng: &mut Rng, count: usize) -> Vec<Step> {
    let (mut steps, mut open, mut posted) = (Vec::new(), Vec::new(), 0);
    for number in 0..count {
        if number == count / 3 {
            steps.push(Step::Init);
        }
        steps.push(match rng.below(12) {
            0 | 1 => {
                open.push(posted);
                posted += 1;
                Step::Post
            }
            2 | 3 if !open.is_empty() => {
                let receive = open.remove(rng.below(open.len()));
                if rng.below(5) == 0 { Step::Cancel(receive) } else { Step::Match(receive, envelope(rng)) }
            }
            4 => Step::Miss,
            5 => {
                let choice = ALL[rng.below(ALL.len())];
                Step::Find(choice, values(choice, rng))
            }
            6 => Step::Clock(rng.less_than(u64::MAX)),
            10 => {
                let clock = LibraryClock::new(rng.less_than(LibraryClock::COUNT as u64)).expect("below");
                Step::LibraryClock(clock, rng.less_than(u64::MAX) as i64)
            }
            11 => {
                let source = LibrarySource::new(rng.less_than(LibrarySource::COUNT as u64)).expect("below");
                Step::LibraryBytes(source, (0..rng.below(9)).map(|_| rng.below(256) as u8).collect())
            }
            7 => Step::Send(3, vec![rng.below(9) as u8; rng.below(20)]),
            8 => Step::Receive(4, vec![rng.below(9) as u8; rng.below(20)]),
            _ => Step::Over,
        });
    }
    steps
}

fn start() -> Start {
    Start { ranks: 4, rank: 2, interval: 3, run: 77, program: "app".into(), ..Start::default() }
}

fn record_into(store: Memory, steps: &[Step]) -> Recorder<Memory> {
    let mut recorder = Recorder::new(store, 3);
    for step in steps {
        match step.clone() {
            Step::Post => drop(recorder.post()),
            Step::Match(receive, message) => recorder.matched(Posted(receive), message),
            Step::Cancel(receive) => recorder.cancelled(Posted(receive)),
            Step::Miss => recorder.missed(),
            Step::Find(choice, values) => recorder.outcome(choice, &values),
            Step::Clock(bits) => recorder.clock(bits),
            Step::Init => recorder.init(),
            Step::LibraryClock(clock, value) => recorder.library_clock(clock, value),
            Step::LibraryBytes(source, given) => recorder.library_bytes(source, &given),
            Step::Send(peer, data) => recorder.sent(peer, 1, data.len() as u64, &data),
            Step::Receive(peer, data) => recorder.received(peer, 1, data.len() as u64, &data),
            Step::Over => recorder.call_over(),
        }
    }
    recorder
}

fn file(steps: &[Step]) -> Vec<u8> {
    record_into(Memory::new(&start()), steps).finish().bytes
}

/// Repeats the steps; what is asked for must be what was recorded.
fn repeat(trace: Trace, steps: &[Step]) -> Result<(), Divergence> {
    let mut replayer = Replayer::new(trace);
    let mut misses = 0;
    for step in steps {
        match step.clone() {
            Step::Post => {
                let (receive, resolution) = replayer.post();
                let expected = steps.iter().find_map(|step| match *step {
                    Step::Match(number, message) if number == receive.0 => Some(Resolution::Matched(message)),
                    Step::Cancel(number) if number == receive.0 => Some(Resolution::Cancelled),
                    _ => None,
                });
                assert_eq!(resolution, expected);
            }
            Step::Match(..) | Step::Cancel(..) => {}
            Step::Miss => misses += 1,
            Step::Find(choice, values) => {
                for _ in 0..std::mem::take(&mut misses) {
                    assert_eq!(replayer.ask(Choice::Test, true)?, Answer::Missed);
                }
                assert_eq!(replayer.ask(choice, false)?, Answer::Found(values));
            }
            Step::Clock(bits) => assert_eq!(replayer.clock()?, bits),
            Step::Init => replayer.init(),
            Step::LibraryClock(clock, value) => assert_eq!(replayer.library_clock(clock), Some(value)),
            Step::LibraryBytes(source, given) => {
                // Another length is another question.
                assert!(!replayer.library_bytes(source, &mut vec![0; given.len() + 1]));
                let mut again = vec![0; given.len()];
                assert!(replayer.library_bytes(source, &mut again) && again == given);
            }
            Step::Send(peer, data) => replayer.sent(peer, 1, data.len() as u64, &data),
            Step::Receive(peer, data) => replayer.received(peer, 1, data.len() as u64, &data),
            Step::Over => replayer.call_over()?,
        }
    }
    replayer.finish()
}

#[test]
fn what_is_recorded_comes_back() {
    for seed in 0..200 {
        let steps = steps(&mut Rng::new(seed), 150);
        let trace = Trace::parse(&file(&steps)).expect("the file is whole");
        assert_eq!(trace.start, start());
        assert_eq!(repeat(trace, &steps), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_run_that_was_killed_comes_back_up_to_its_end() {
    for seed in 0..50 {
        let steps = steps(&mut Rng::new(seed), 100);
        // The file is never finished, and has zeros behind it.
        let recorder = record_into(Memory::new(&start()), &steps);
        let mut bytes = recorder.store().bytes.clone();
        bytes.resize(bytes.len() + 5000, 0);
        assert_eq!(repeat(Trace::parse(&bytes).expect("it is whole"), &steps), Ok(()));
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let whole = file(&steps(&mut Rng::new(1), 100));
    for length in 0..whole.len() {
        let error = Trace::parse(&whole[..length]).expect_err("it is cut");
        assert!(
            matches!(error, RankFileError::Cut { .. } | RankFileError::OtherFormat { .. }),
            "{length}: {error}"
        );
    }
}

#[test]
fn a_bit_that_flips_anywhere_in_a_finished_file_is_noticed() {
    let whole = file(&steps(&mut Rng::new(2), 100));
    let kept = (0..LIVE_OFFSET + 56).chain(HEADER_BYTES..whole.len());
    for at in kept {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            // Whether a run ended well is one of its counters: without that, no seal is expected.
            let result = Trace::parse(&changed);
            let is_unfinished = at == LIVE_OFFSET + 40;
            assert!(result.is_err() || is_unfinished, "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn random_bytes_make_no_reader_panic() {
    let mut rng = Rng::new(5);
    for _ in 0..3000 {
        let recorder = record_into(Memory::new(&start()), &steps(&mut rng, 60));
        let mut bytes = recorder.store().bytes.clone();
        for _ in 0..1 + rng.below(6) {
            let length = bytes.len();
            bytes[HEADER_BYTES.min(length - 1) + rng.below(length - HEADER_BYTES)] = rng.below(256) as u8;
        }
        let _ = Trace::parse(&bytes);
    }
}

#[test]
fn without_room_the_trace_ends_and_stays_readable() {
    let mut steps = steps(&mut Rng::new(9), 300);
    steps.retain(|step| matches!(step, Step::Miss | Step::Find(..) | Step::Clock(_) | Step::Over));
    let mut store = Memory::new(&start());
    store.limit = HEADER_BYTES + 100;
    let recorder = record_into(store, &steps);
    assert!(recorder.is_full());
    let trace = Trace::parse(&recorder.finish().bytes).expect("it is a whole trace");
    assert_eq!(trace.live.ending, format::Ending::NoRoom);
    let end = repeat(trace, &steps);
    assert!(matches!(end, Err(Divergence::EndOfTrace { .. })), "{end:?}");
}

#[test]
fn another_message_and_another_call_are_noticed() {
    let send = |byte| vec![Step::Send(1, vec![byte]), Step::Over, Step::Over, Step::Over];
    let trace = Trace::parse(&file(&send(1))).expect("it is whole");
    assert!(matches!(
        repeat(trace, &send(2)),
        Err(Divergence::OtherData { from: 1, to: 3, sent: Some(_), received: None })
    ));
    let find = |choice| vec![Step::Find(choice, vec![])];
    let trace = Trace::parse(&file(&find(Choice::Test))).expect("it is whole");
    let other = repeat(trace.clone(), &find(Choice::Testall)).expect_err("another function asks");
    assert_eq!(
        other.to_string(),
        "at call 1 the program calls MPI_Testall, where the recorded run called MPI_Test"
    );
    assert!(matches!(repeat(trace, &[]), Err(Divergence::FewerCalls { outcomes: 1, .. })));
}

#[test]
fn a_receive_from_any_source_takes_one_byte_and_what_is_no_choice_none() {
    let mut steps = vec![Step::Post, Step::Match(0, Envelope { source: 5, tag: 9 })];
    for receive in 1..1000 {
        steps.extend([Step::Post, Step::Match(receive, Envelope { source: 3, tag: 9 }), Step::Miss]);
    }
    let recorder = record_into(Memory::new(&start()), &steps);
    assert_eq!(recorder.store().bytes.len() - HEADER_BYTES, 4 + 999);
}
