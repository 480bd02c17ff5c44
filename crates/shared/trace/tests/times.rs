//! What is recorded of times comes back; and files that are cut or damaged lead to a sentence.

use evenkeel_random::Random;
use evenkeel_trace::format::Ending;
use evenkeel_trace::rank_file::RankFileError;
use evenkeel_trace::times::communicators::Communicators;
use evenkeel_trace::times::file::{Remark, Times};
use evenkeel_trace::times::format::{self, HEADER_BYTES, LIVE_OFFSET, Live, Moment, Start};
use evenkeel_trace::times::messages::messages;
use evenkeel_trace::times::recorder::{Recorder, Store};
use evenkeel_trace::times::shape::{Envelope, Role, Shape};

/// A file in memory with at most so many bytes of records.
struct Memory {
    bytes: Vec<u8>,
    used: usize,
    calls: u64,
}

impl Memory {
    fn new(start: &Start, room: usize) -> Memory {
        let mut bytes = format::header(start);
        bytes.resize(HEADER_BYTES + room, 0xee);
        Memory { bytes, used: HEADER_BYTES, calls: 0 }
    }

    fn finish(mut self, ending: Ending) -> Vec<u8> {
        let mut live = Live { used: (self.used - HEADER_BYTES) as u64, calls: self.calls, ending, seal: 0 };
        live.seal = format::seal(&self.bytes, &live);
        self.bytes[LIVE_OFFSET..LIVE_OFFSET + 32].copy_from_slice(&format::live_bytes(&live));
        self.bytes.truncate(self.used);
        self.bytes
    }
}

impl Store for Memory {
    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(self.used..).filter(|room| room.len() >= bytes)
    }

    fn commit(&mut self, bytes: usize, calls: u64) {
        self.used += bytes;
        self.calls += calls;
    }
}

fn start(rank: u32, ranks: u32) -> Start {
    let before_init = Moment { ticks: 1000, ns: 10 };
    Start { rank, ranks, before_init, host_name: "here".into(), ..Start::default() }
}

fn recorder(rank: u32, ranks: u32) -> Recorder<Memory> {
    let mut recorder = Recorder::new(Memory::new(&start(rank, ranks), 1 << 20), 1000);
    recorder.function("MPI_Send");
    recorder.module("/bin/app", 7, 8);
    recorder.site(1, 0x1234);
    recorder.site(0, 0x5678);
    recorder.comm(&(0..ranks as i32).collect::<Vec<_>>(), &[]);
    recorder
}

fn shape(role: Role, peer: i32, tag: i32) -> Shape {
    let first = Envelope { peer, tag, bytes: Some(8) };
    let second = matches!(role, Role::SendReceive | Role::SendPost).then_some(Envelope {
        peer: 1,
        tag: 2,
        bytes: None,
    });
    Shape { comm: Some(0), role, first, second, ..Shape::default() }
}

#[test]
fn calls_come_back_with_all_that_was_said_of_them() {
    let mut r = recorder(0, 3);
    let mut random = Random::new(7);
    let mut expected = Vec::new();
    let mut now = 1000;
    for number in 0..5000u64 {
        let role = Role::of((random.less_than(u64::MAX) % 7) as u8).unwrap();
        // More shapes than have numbers: some are given again.
        let shape =
            shape(role, (random.less_than(u64::MAX) % 3) as i32, (random.less_than(u64::MAX) % 3000) as i32);
        let hash =
            (u64::from(shape.first.tag as u32) << 32 | u64::from(shape.first.peer as u32) << 8 | role as u64)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                | 1;
        let known = r.find(hash).unwrap_or_else(|| r.define(hash, &shape));
        let long = number % 100 == 99;
        let entry = now + if long { 1 << 50 } else { random.less_than(u64::MAX) % (1 << (number % 40)) };
        let exit = entry + random.less_than(u64::MAX) % (1 << (number % 47));
        r.call(0, known, entry, exit);
        if role.posts() {
            assert_eq!(
                r.post(),
                expected.iter().filter(|(s, ..): &&(Shape, u64, u64)| s.role.posts()).count() as u64
            );
        }
        expected.push((shape, entry, exit));
        now = exit;
    }
    let times = Times::parse(&r.into_store().finish(Ending::Finalized)).unwrap();
    assert_eq!(times.calls.len(), expected.len());
    for (call, (shape, entry, exit)) in times.calls.iter().zip(&expected) {
        assert_eq!((times.shape(call), call.entry, call.exit), (shape, *entry, *exit));
    }
    assert_eq!(times.functions, ["MPI_Send"]);
    assert_eq!((times.sites[0].module, times.sites[1].module), (Some(0), None));
    assert_eq!(times.comms[0].members, [0, 1, 2]);
    assert_eq!(times.start.host_name, "here");
}

#[test]
fn each_thread_has_its_own_times() {
    let mut r = recorder(0, 1);
    let shape = r.define(3, &shape(Role::Other, 0, 0));
    r.call(0, shape, 1100, 5000);
    r.call(2, shape, 1200, 1300); // in the middle of the other one
    r.call(0, shape, 5100, 5200);
    r.call(2, shape, 1400, 6000);
    let times = Times::parse(&r.into_store().finish(Ending::Finalized)).unwrap();
    let found: Vec<_> = times.calls.iter().map(|call| (call.thread, call.entry, call.exit)).collect();
    assert_eq!(found, [(0, 1100, 5000), (2, 1200, 1300), (0, 5100, 5200), (2, 1400, 6000)]);
}

#[test]
fn a_usual_call_takes_six_bytes() {
    let mut r = recorder(0, 1);
    let shape = r.define(3, &shape(Role::Send, 0, 0));
    let before = r.store().used;
    for call in 0..100 {
        let entry = 1000 + call * 10_000;
        r.call(0, shape, entry, entry + 5000);
    }
    assert!(r.store().used - before <= 6 * 100);
}

#[test]
fn ranks_of_any_group_come_back() {
    let mut random = Random::new(3);
    let groups: Vec<Vec<i32>> = (0..50)
        .map(|_| {
            let (step, count) = ((random.less_than(u64::MAX) % 5) as i32 - 2, random.less_than(u64::MAX) % 9);
            let straight = (0..count as i32).map(|i| 50 + step * i);
            straight.map(|rank| if random.less_than(u64::MAX) % 4 == 0 { rank + 1 } else { rank }).collect()
        })
        .collect();
    let mut r = recorder(0, 60);
    for pair in groups.chunks(2) {
        r.comm(&pair[0], &pair[1]);
    }
    let times = Times::parse(&r.into_store().finish(Ending::Finalized)).unwrap();
    for (comm, pair) in times.comms[1..].iter().zip(groups.chunks(2)) {
        assert_eq!((&comm.members, &comm.remote), (&pair[0], &pair[1]));
    }
}

/// Three ranks; rank 0 gets two messages by receives that were posted in another order than they were waited
/// for.
fn small_run() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for rank in 0..3 {
        let mut r = recorder(rank, 3);
        let (send, post, other) = (shape(Role::Send, 0, 5), shape(Role::Post, -3, 5), Shape::default());
        if rank == 0 {
            let (post, other) = (r.define(11, &post), r.define(13, &other));
            for entry in [1100, 1200] {
                r.call(0, post, entry, entry + 10);
                r.post();
            }
            r.took(1, &Envelope { peer: 1, tag: 5, bytes: Some(8) });
            r.call(0, other, 1300, 1400);
            r.took(0, &Envelope { peer: 1, tag: 5, bytes: Some(8) });
            r.call(0, other, 1500, 1600);
            r.clocks(Moment { ticks: 1700, ns: 1 });
            r.comm_name(0, "all");
        } else if rank == 1 {
            let send = r.define(15, &send);
            r.call(0, send, 1100, 1110);
            r.started(0, true, &Envelope { peer: 0, tag: 5, bytes: Some(8) });
            let other = r.define(13, &other);
            r.call(0, other, 1200, 1300);
        }
        all.push(r.into_store().finish(Ending::Finalized));
    }
    all
}

#[test]
fn the_kth_message_of_a_class_goes_to_the_kth_receive_that_was_posted() {
    let ranks: Vec<_> = small_run().iter().map(|bytes| Times::parse(bytes).unwrap()).collect();
    assert!(matches!(ranks[0].remarks_of(2), [Remark::Took(1, _)]));
    let communicators = Communicators::new(&ranks);
    assert_eq!(communicators.name(communicators.number(2, 0)), "all");
    let found = messages(&ranks, &communicators);
    let calls: Vec<_> =
        found.iter().map(|m| (m.sent.rank, m.sent.call, m.taken.rank, m.taken.call)).collect();
    // The first message was taken by the receive that was posted first, and waited for last.
    assert_eq!(calls, [(1, 0, 0, 3), (1, 1, 0, 2)]);
}

#[test]
fn no_room_ends_the_records_and_nothing_else() {
    let mut r = Recorder::new(Memory::new(&start(0, 1), 300), 1000);
    r.function("MPI_Send");
    r.site(0, 1);
    r.comm(&[0], &[]);
    let shape = r.define(3, &shape(Role::Send, 0, 0));
    for call in 0..1000 {
        r.call(0, shape, 2000 + call, 2000 + call);
    }
    assert!(r.is_full());
    let times = Times::parse(&r.into_store().finish(Ending::NoRoom)).unwrap();
    assert!(times.calls.len() > 30 && times.calls.len() < 1000);
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    for file in small_run() {
        for length in 0..file.len() {
            assert!(Times::parse(&file[..length]).is_err(), "{length}");
        }
    }
}

#[test]
fn a_bit_that_has_changed_is_found_or_makes_no_difference() {
    for file in small_run() {
        let right = Times::parse(&file).unwrap();
        for bit in (0..8 * LIVE_OFFSET + 256).chain(8 * HEADER_BYTES..8 * file.len()) {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = Times::parse(&damaged) {
                assert_eq!(read.calls, right.calls, "bit {bit}");
            }
        }
        // The same of a process that was killed: there is no hash then, so only nonsense is found.
        for bit in 8 * HEADER_BYTES..8 * file.len() {
            let mut damaged = file.clone();
            damaged[LIVE_OFFSET + 16] = 0;
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(times) = Times::parse(&damaged) {
                let ranks = [times];
                messages(&ranks, &Communicators::new(&ranks));
            }
        }
    }
}

#[test]
fn sentences_say_what_is_wrong() {
    let file = &small_run()[0];
    let mut other = file.clone();
    other[8] = 9;
    assert_eq!(Times::parse(&other).unwrap_err(), RankFileError::OtherVersion { found: 9, read: 1 });
    let other = Times::parse(b"EKTRACE\n").unwrap_err();
    assert_eq!(other.to_string(), "it has no times of MPI calls");
    let cut = Times::parse(&file[..file.len() - 1]).unwrap_err().to_string();
    assert!(cut.starts_with("it is cut"), "{cut}");
}
