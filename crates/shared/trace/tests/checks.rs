//! Files of calls: what was written comes back; what is cut, changed or of another version is refused, and
//! never ends the reader.

use evenkeel_random::Random;
use evenkeel_trace::checks::file::{Checks, Event, Site};
use evenkeel_trace::checks::format::{MAGIC, VERSION};
use evenkeel_trace::checks::recorder::{Recorder, TypeFacts};
use evenkeel_trace::rank_file::RankFileError;
use evenkeel_trace::times::format::{HEADER_BYTES, LIVE_OFFSET, Live, Start, header_of, live_bytes};
use evenkeel_trace::times::recorder::Memory;

fn file() -> Vec<u8> {
    let mut recorder = Recorder::new(Memory::default());
    recorder.constant("MPI_COMM_WORLD", 7);
    let int = recorder.named_element("i:MPI_INT", 4);
    let three = recorder.sequence(&[(3, int)]);
    recorder.datatype(&TypeFacts {
        handle: -5,
        elements: Some(three),
        size: 12,
        extent: 16,
        runs: Some(vec![(0, 4), (8, 8)]),
    });
    recorder.comm(7, &[0, 1, 2], &[]);
    let wait = recorder.function("MPI_Waitall", "count:n,array_of_requests:Q", "array_of_statuses:S");
    let module = recorder.module("/bin/app", 10, 20);
    let code = recorder.site(Some(module), 0x40);
    let script = recorder.script_site("a.py", 12, "main");
    recorder.begin(0, wait, code, &[1, 1, i64::MIN]);
    recorder.changed(i64::MAX, true);
    recorder.end(0, false, &[1, 2, 3, -1, 0]);
    recorder.begin(1, wait, script, &[0, 0]);
    let store = recorder.into_store();
    let mut file = header_of(MAGIC, VERSION, &Start { ranks: 3, ..Start::default() });
    let live = Live { used: store.used as u64, calls: store.calls, ..Live::default() };
    file[LIVE_OFFSET..LIVE_OFFSET + 32].copy_from_slice(&live_bytes(&live));
    file.extend_from_slice(&store.bytes[..store.used]);
    file
}

#[test]
fn what_was_written_comes_back() {
    let checks = Checks::parse(&file()).unwrap();
    assert_eq!(checks.functions[0].arguments[1].name, "array_of_requests");
    assert_eq!(checks.types[0].runs, Some(vec![(0, 4), (8, 8)]));
    assert_eq!(checks.comms[0].members, [0, 1, 2]);
    assert_eq!(checks.sites[1], Site::Script("a.py".into(), 12, "main".into()));
    let [Event::Type(0), Event::Comm(0), begin, changed, end, Event::Begin { thread: 1, .. }] =
        &checks.events[..]
    else {
        panic!("{:?}", checks.events)
    };
    assert_eq!(*changed, Event::Changed(i64::MAX, true));
    let (Event::Begin { words, .. }, Event::End { words: results, .. }) = (begin, end) else {
        panic!("{begin:?} {end:?}")
    };
    assert_eq!(checks.words(*words), [1, 1, i64::MIN]);
    assert_eq!(checks.words(*results), [1, 2, 3, -1, 0]);
}

#[test]
fn a_file_that_is_cut_or_of_another_version_is_refused() {
    let whole = file();
    for length in 0..whole.len() {
        assert!(Checks::parse(&whole[..length]).is_err(), "{length}");
    }
    let mut other = whole;
    other[8] = 99;
    assert_eq!(Checks::parse(&other).unwrap_err(), RankFileError::OtherVersion { found: 99, read: 1 });
    other[0] = b'X';
    assert_eq!(Checks::parse(&other).unwrap_err().to_string(), "it has no arguments of MPI calls");
}

#[test]
fn bits_that_are_flipped_never_end_the_reader() {
    let whole = file();
    let mut random = Random::new(3);
    for _ in 0..20_000 {
        let mut changed = whole.clone();
        for _ in 0..1 + random.below(3) {
            let at = HEADER_BYTES + random.below(whole.len() - HEADER_BYTES);
            changed[at] ^= 1 << random.below(8);
        }
        let _ = Checks::parse(&changed); // an answer, whichever
    }
}
