//! Writes a large trace, to measure `evenkeel debug` with:
//!
//!     cargo run --release -p evenkeel-debug --example synthetic -- RANKS CALLS DIRECTORY
//!
//! The program that it is said to be of exchanges messages with its neighbours in a ring, and meets in a
//! reduction now and then. From time to time a rank takes long. All times are virtual.

use evenkeel_random::Random;
use evenkeel_trace::format::Ending;
use evenkeel_trace::times::format::{self, HEADER_BYTES, LIVE_OFFSET, Live, Moment, Start};
use evenkeel_trace::times::recorder::{Memory, Recorder, ShapeNumber};
use evenkeel_trace::times::shape::{Envelope, NO_PEER, NO_TAG, Role, Shape};
use std::io;
use std::path::Path;

/// Rounds between two reductions.
const ROUNDS: usize = 16;
/// Calls of a rank in a round, but for the reduction.
const CALLS: usize = 5;

/// A rank that is being written.
struct Rank {
    recorder: Recorder<Memory>,
    now: u64,
    number: usize,
    /// Irecv from left and right, Isend to right and left, Waitall, Allreduce, Init, Finalize.
    shapes: Vec<ShapeNumber>,
    neighbours: [usize; 2],
}

fn envelope(peer: usize, tag: i32) -> Envelope {
    Envelope { peer: peer as i32, tag, bytes: Some(4096) }
}

impl Rank {
    fn new(number: usize, ranks: usize) -> Rank {
        let start = Start {
            rank: number as u32,
            ranks: ranks as u32,
            before_init: Moment { ticks: 1, ns: 1 },
            process: 1000 + number as u32,
            host_name: "synthetic".into(),
            run: 77,
            ..Start::default()
        };
        let bytes = format::header(&start);
        let mut recorder = Recorder::new(Memory { bytes, used: HEADER_BYTES, calls: 0 }, 1);
        let names = ["MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Init", "MPI_Finalize"];
        names.iter().for_each(|name| recorder.function(name));
        recorder.module("/opt/app/solver", 7, 8);
        (0..8).for_each(|site| recorder.site(1, 0x1000 + 64 * site));
        recorder.comm(&(0..ranks as i32).collect::<Vec<_>>(), &[]);
        let (left, right) = ((number + ranks - 1) % ranks, (number + 1) % ranks);
        let none = Envelope { peer: NO_PEER, tag: NO_TAG, bytes: Some(8) };
        let all = [
            (0, Role::Post, envelope(left, 1)),
            (0, Role::Post, envelope(right, 2)),
            (1, Role::Send, envelope(right, 1)),
            (1, Role::Send, envelope(left, 2)),
            (2, Role::Other, Envelope::default()),
            (3, Role::Collective, none),
            (4, Role::Other, Envelope::default()),
            (5, Role::Other, Envelope::default()),
        ];
        let mut shapes = Vec::new();
        for (site, (function, role, first)) in all.into_iter().enumerate() {
            let comm = (role != Role::Other).then_some(0);
            let shape = Shape { function, site: site as u32, comm, role, first, ..Shape::default() };
            shapes.push(recorder.define(site as u64 + 1, &shape));
        }
        Rank { recorder, now: 1, number, shapes, neighbours: [left, right] }
    }

    fn call(&mut self, shape: usize, length: u64) {
        self.recorder.call(0, self.shapes[shape], self.now, self.now + length);
        self.now += length;
    }

    fn save(self, folder: &Path) -> io::Result<()> {
        let mut memory = self.recorder.into_store();
        let used = (memory.used - HEADER_BYTES) as u64;
        let mut live = Live { used, calls: memory.calls, ending: Ending::Finalized, seal: 0 };
        live.seal = format::seal(&memory.bytes, &live);
        memory.bytes[LIVE_OFFSET..LIVE_OFFSET + 32].copy_from_slice(&format::live_bytes(&live));
        std::fs::write(folder.join(format!("rank-{}.times", self.number)), &memory.bytes[..memory.used])
    }
}

/// Posts, sends; returns when it has sent.
fn begin_round(rank: &mut Rank, random: &mut Random) -> u64 {
    let is_late = random.below(400) == 0;
    rank.now += 5_000 + random.less_than(4_000) + if is_late { 300_000 } else { 0 };
    for shape in 0..2 {
        rank.recorder.post();
        rank.call(shape, 300);
    }
    rank.now += 2_000;
    let sent = rank.now;
    rank.call(2, 500);
    rank.call(3, 500);
    sent
}

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let mut number = |default: usize| words.next().map_or(Ok(default), |word| word.parse());
    let usage = |_| io::Error::other("usage: synthetic RANKS CALLS DIRECTORY");
    let ranks = number(64).map_err(usage)?;
    let calls = number(10_000_000).map_err(usage)?;
    let folder = words.next().unwrap_or_else(|| "synthetic".into());
    std::fs::create_dir_all(&folder)?;
    let mut random = Random::new(1);
    let mut all: Vec<Rank> = (0..ranks).map(|rank| Rank::new(rank, ranks)).collect();
    all.iter_mut().for_each(|rank| rank.call(6, 2_000_000));
    let mut posted = 0;
    for round in 0..calls / ranks / CALLS {
        let sent: Vec<u64> = all.iter_mut().map(|rank| begin_round(rank, &mut random)).collect();
        for rank in &mut all {
            let [left, right] = rank.neighbours;
            let arrived = sent[left].max(sent[right] + 500).max(rank.now) + 800;
            rank.recorder.took(posted, &envelope(left, 1));
            rank.recorder.took(posted + 1, &envelope(right, 2));
            let length = arrived - rank.now;
            rank.call(4, length);
        }
        posted += 2;
        if round % ROUNDS == ROUNDS - 1 {
            let last = all.iter().map(|rank| rank.now).max().unwrap_or(0) + 1500;
            all.iter_mut().for_each(|rank| rank.call(5, last - rank.now));
        }
    }
    let last = all.iter().map(|rank| rank.now).max().unwrap_or(0) + 10_000;
    for mut rank in all {
        let length = last - rank.now;
        rank.call(7, length);
        rank.save(Path::new(&folder))?;
    }
    Ok(())
}
