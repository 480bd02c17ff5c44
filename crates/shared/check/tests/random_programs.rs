//! Random programs that keep the rules are silent; with one defect each, the rule that they break is named.

use evenkeel_check::finding::{Rule, Severity};
use evenkeel_random::Random;
use evenkeel_trace::checks::file::Checks;
use evenkeel_trace::checks::format::{MAGIC, VERSION};
use evenkeel_trace::checks::recorder::{Recorder, TypeFacts};
use evenkeel_trace::times::format::{HEADER_BYTES, LIVE_OFFSET, Live, Start, header_of, live_bytes};
use evenkeel_trace::times::recorder::Memory;

const INT: i64 = 1000;
const DOUBLE: i64 = 1001;
const OWN: i64 = 1002;
const WORLD: i64 = 2000;
const COPY: i64 = 2001;
const MESSAGE: i64 = 4000;
const NULL: i64 = 9;
/// Any source or tag.
const ANY: i64 = evenkeel_trace::times::shape::ANY as i64;
const SUM: i64 = 3000;
const MAX: i64 = 3001;
/// Buffers of different operations lie so far from each other.
const APART: i64 = 1 << 12;

/// A rank that writes its calls.
struct Rank {
    recorder: Recorder<Memory>,
    number: u32,
    ranks: u32,
    functions: Vec<(&'static str, u32)>,
    requests: i64,
    /// The elements of `INT`.
    int: u32,
}

const FUNCTIONS: [(&str, &str, &str); 13] = [
    ("MPI_Init", "", ""),
    ("MPI_Send", "buf:b,count:n,datatype:d,dest:r,tag:t,comm:c", ""),
    ("MPI_Recv", "buf:b,count:n,datatype:d,source:r,tag:t,comm:c", "status:S"),
    ("MPI_Isend", "buf:b,count:n,datatype:d,dest:r,tag:t,comm:c", "request:q"),
    ("MPI_Irecv", "buf:b,count:n,datatype:d,source:r,tag:t,comm:c", "request:q"),
    ("MPI_Waitall", "count:n,array_of_requests:Q", "array_of_statuses:S"),
    ("MPI_Allreduce", "sendbuf:b,recvbuf:b,count:n,datatype:d,op:o,comm:c", ""),
    ("MPI_Bcast", "buffer:b,count:n,datatype:d,root:r,comm:c", ""),
    ("MPI_Mprobe", "source:r,tag:t,comm:c", "message:m,status:S"),
    ("MPI_Mrecv", "buf:b,count:n,datatype:d,message:m", "message:m,status:S"),
    ("MPI_Comm_dup", "comm:c", "newcomm:c"),
    ("MPI_Comm_free", "comm:c", "comm:c"),
    ("MPI_Finalize", "", ""),
];

impl Rank {
    fn new(number: u32, ranks: u32) -> Rank {
        let mut recorder = Recorder::new(Memory::default());
        for (name, handle) in [("MPI_REQUEST_NULL", NULL), ("MPI_SUM", SUM), ("MPI_MAX", MAX)] {
            recorder.constant(name, handle);
        }
        let mut int = None;
        for (name, handle, size) in [("i:MPI_INT", INT, 4), ("f:MPI_DOUBLE", DOUBLE, 8)] {
            let elements = Some(recorder.named_element(name, size));
            int = int.or(elements);
            let (extent, runs) = (size as i64, Some(vec![(0, size)]));
            recorder.datatype(&TypeFacts { handle, elements, size, extent, runs });
        }
        recorder.comm(WORLD, &(0..ranks as i32).collect::<Vec<_>>(), &[]);
        recorder.site(None, 0);
        let mut made =
            Rank { recorder, number, ranks, functions: Vec::new(), requests: 100, int: int.unwrap_or(0) };
        for (name, arguments, results) in FUNCTIONS {
            made.functions.push((name, made.recorder.function(name, arguments, results)));
        }
        made.call("MPI_Init", &[], &[]);
        made
    }

    fn begin(&mut self, name: &str, words: &[i64]) {
        let function = self.functions.iter().find(|(known, _)| *known == name).unwrap().1;
        self.recorder.begin(0, function, 0, words);
    }

    fn call(&mut self, name: &str, words: &[i64], results: &[i64]) {
        self.begin(name, words);
        self.recorder.end(0, false, results);
    }

    fn request(&mut self, name: &str, words: &[i64]) -> i64 {
        self.requests += 1;
        self.call(name, words, &[self.requests]);
        self.requests
    }

    fn read(self) -> Checks {
        Checks::parse(&self.file()).unwrap()
    }

    fn file(self) -> Vec<u8> {
        let (number, ranks) = (self.number, self.ranks);
        let store = self.recorder.into_store();
        let mut file = header_of(MAGIC, VERSION, &Start { rank: number, ranks, ..Start::default() });
        let live = Live { used: store.used as u64, calls: store.calls, ..Live::default() };
        file[LIVE_OFFSET..LIVE_OFFSET + 32].copy_from_slice(&live_bytes(&live));
        assert_eq!(file.len(), HEADER_BYTES);
        file.extend_from_slice(&store.bytes[..store.used]);
        file
    }
}

/// A defect in one round of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    None,
    ShortReceive,
    FailedReceive,
    OtherType,
    ExtraSend,
    ExtraReceive,
    OtherOperator,
    OtherRoot,
    OtherCollective,
    SameBuffer,
    SendFirst,
    LostRequest,
    EndlessWait,
    EndlessProbe,
}

const DEFECTS: [(Defect, Rule); 13] = [
    (Defect::ShortReceive, Rule::Message),
    (Defect::FailedReceive, Rule::Message),
    (Defect::OtherType, Rule::Message),
    (Defect::ExtraSend, Rule::Unmatched),
    (Defect::ExtraReceive, Rule::Unmatched),
    (Defect::OtherOperator, Rule::Collective),
    (Defect::OtherRoot, Rule::Collective),
    (Defect::OtherCollective, Rule::Collective),
    (Defect::SameBuffer, Rule::Overlap),
    (Defect::SendFirst, Rule::Buffering),
    (Defect::LostRequest, Rule::Leak),
    (Defect::EndlessWait, Rule::Deadlock),
    (Defect::EndlessProbe, Rule::Deadlock),
];

/// Rounds of one kind each, all ranks take part.
fn program(random: &mut Random, defect: Defect) -> Vec<Checks> {
    ranks_of(random, defect).into_iter().map(Rank::read).collect()
}

fn ranks_of(random: &mut Random, defect: Defect) -> Vec<Rank> {
    let count = 2 + random.below(4) as u32;
    let mut ranks: Vec<Rank> = (0..count).map(|rank| Rank::new(rank, count)).collect();
    let rounds = 4 + random.below(12);
    let broken = random.below(rounds);
    for round in 0..rounds {
        let defect = if round == broken { defect } else { Defect::None };
        round_of(random, &mut ranks, round as i64 * 16 * APART, defect);
        if matches!(defect, Defect::EndlessWait | Defect::EndlessProbe) {
            return ranks; // no rank comes further
        }
    }
    for rank in &mut ranks {
        // A callback frees the copy.
        rank.call("MPI_Comm_dup", &[WORLD], &[COPY]);
        rank.begin("MPI_Finalize", &[]);
        rank.call("MPI_Comm_free", &[COPY], &[]);
        rank.recorder.end(0, false, &[]);
    }
    ranks
}

fn round_of(random: &mut Random, ranks: &mut [Rank], base: i64, defect: Defect) {
    let size = 1 + random.below(9) as i64;
    let tag = random.below(3) as i64;
    let kind = match defect {
        Defect::OtherOperator => 2,
        Defect::OtherRoot | Defect::OtherCollective => 3,
        Defect::SameBuffer | Defect::LostRequest => 1,
        Defect::None => random.below(4),
        _ => 0,
    };
    let count = ranks.len();
    match kind {
        0 => pair(ranks, random.below(count), size, tag, base, defect),
        1 => ring(ranks, size, tag, base, defect),
        2 => {
            for rank in ranks.iter_mut() {
                let op = if defect == Defect::OtherOperator && rank.number == 1 { MAX } else { SUM };
                rank.call("MPI_Allreduce", &[base, base + APART, size, INT, op, WORLD], &[]);
            }
        }
        _ => {
            let root = random.below(count) as i64;
            for rank in ranks.iter_mut() {
                let is_odd = rank.number == 1;
                if is_odd && defect == Defect::OtherCollective {
                    rank.call("MPI_Allreduce", &[base, base + APART, size, INT, SUM, WORLD], &[]);
                } else {
                    let root = if is_odd && defect == Defect::OtherRoot { 1 - root.min(1) } else { root };
                    rank.call("MPI_Bcast", &[base, size, INT, root, WORLD], &[]);
                    // A datatype of the program's, whose handle stands for another one each time.
                    let parts = [(size as u64, rank.int)];
                    let elements = Some(rank.recorder.sequence(&parts));
                    let bytes = 4 * size as u64;
                    rank.recorder.datatype(&TypeFacts {
                        handle: OWN,
                        elements,
                        size: bytes,
                        extent: bytes as i64,
                        runs: Some(vec![(0, bytes)]),
                    });
                    let own =
                        if is_odd { [base, 1, OWN, root, WORLD] } else { [base, size, INT, root, WORLD] };
                    rank.call("MPI_Bcast", &own, &[]);
                }
            }
        }
    }
}

/// One rank sends to the next, which answers.
fn pair(ranks: &mut [Rank], first: usize, size: i64, tag: i64, base: i64, defect: Defect) {
    let second = (first + 1) % ranks.len();
    let (to, from) = (second as i64, first as i64);
    let send = |rank: &mut Rank, peer: i64| rank.call("MPI_Send", &[base, size, INT, peer, tag, WORLD], &[]);
    let receive = |rank: &mut Rank, peer: i64, room: i64, datatype: i64| {
        let status = [1, peer, tag, 4 * size, 0];
        if tag == 2 {
            let found = [&[MESSAGE], &status[..]].concat();
            rank.call("MPI_Mprobe", &[peer, ANY, WORLD], &found);
            let got = [&[NULL], &status[..]].concat();
            rank.call("MPI_Mrecv", &[base + APART, room, datatype, MESSAGE], &got);
        } else {
            rank.call("MPI_Recv", &[base + APART, room, datatype, peer, tag, WORLD], &status);
        }
    };
    match defect {
        Defect::EndlessWait => {
            for (rank, peer) in [(first, to), (second, from)] {
                ranks[rank].begin("MPI_Recv", &[base, size, INT, peer, tag, WORLD]);
            }
            return;
        }
        Defect::EndlessProbe => {
            for (rank, peer) in [(first, to), (second, from)] {
                ranks[rank].begin("MPI_Mprobe", &[peer, ANY, WORLD]);
            }
            return;
        }
        Defect::SendFirst => {
            send(&mut ranks[first], to);
            send(&mut ranks[second], from);
            receive(&mut ranks[first], to, size, INT);
            receive(&mut ranks[second], from, size, INT);
            return;
        }
        _ => {}
    }
    send(&mut ranks[first], to);
    let (room, datatype) = match defect {
        Defect::ShortReceive => (size - 1, INT),
        Defect::OtherType => (size, DOUBLE),
        _ => (size + 1, INT),
    };
    if defect == Defect::FailedReceive {
        ranks[second].begin("MPI_Recv", &[base + APART, size - 1, INT, ANY, ANY, WORLD]);
        ranks[second].recorder.end(0, true, &[1, from, tag, 4 * (size - 1), 0]);
    } else {
        receive(&mut ranks[second], from, room, datatype);
    }
    send(&mut ranks[second], from);
    receive(&mut ranks[first], to, size, INT);
    if defect == Defect::ExtraSend {
        ranks[first].call("MPI_Send", &[base, size, INT, to, 77, WORLD], &[]);
    }
    if defect == Defect::ExtraReceive {
        ranks[first].request("MPI_Irecv", &[base + 2 * APART, size, INT, to, 78, WORLD]);
    }
}

/// Each rank sends to the next, and waits for both.
fn ring(ranks: &mut [Rank], size: i64, tag: i64, base: i64, defect: Defect) {
    let count = ranks.len() as i64;
    for rank in ranks.iter_mut() {
        let own = i64::from(rank.number);
        let (to, from) = ((own + 1) % count, (own + count - 1) % count);
        let is_odd = own == 1;
        let into = if is_odd && defect == Defect::SameBuffer { base } else { base + APART };
        let receives = rank.request("MPI_Irecv", &[into, size, INT, from, tag, WORLD]);
        let again = rank.request("MPI_Irecv", &[base + 2 * APART, size, INT, from, tag + 10, WORLD]);
        let sends = rank.request("MPI_Isend", &[base, size, INT, to, tag, WORLD]);
        // Two sends may read one buffer.
        let sends_again = rank.request("MPI_Isend", &[base, size, INT, to, tag + 10, WORLD]);
        let (one, other) = ([from, tag, 4 * size, 0], [from, tag + 10, 4 * size, 0]);
        if is_odd && defect == Defect::LostRequest {
            let results = [&[3], &one[..], &other[..], &[0; 4]].concat();
            rank.call("MPI_Waitall", &[3, 3, receives, again, sends_again], &results);
        } else {
            let results = [&[4], &one[..], &other[..], &[0; 8]].concat();
            rank.call("MPI_Waitall", &[4, 4, receives, again, sends, sends_again], &results);
        }
    }
}

/// All but notes about receives from any source.
fn told(ranks: &[Checks]) -> Vec<(Rule, Severity, String)> {
    let report = evenkeel_check::check(ranks, &Rule::ALL);
    let told = report.findings.into_iter().filter(|finding| finding.rule != Rule::Race);
    told.map(|finding| (finding.rule, finding.severity, finding.sentence)).collect()
}

#[test]
fn programs_that_keep_the_rules_are_silent() {
    let mut random = Random::new(1);
    for _ in 0..150 {
        assert_eq!(told(&program(&mut random, Defect::None)), []);
    }
}

#[test]
fn each_defect_is_found_and_nothing_else_is() {
    for (defect, rule) in DEFECTS {
        let mut random = Random::new(2);
        for _ in 0..30 {
            let found = told(&program(&mut random, defect));
            assert!(!found.is_empty(), "{defect:?}");
            assert!(found.iter().all(|(by, ..)| *by == rule), "{defect:?}: {found:?}");
        }
    }
}

#[test]
fn what_is_damaged_and_can_still_be_read_never_ends_the_rules() {
    let mut random = Random::new(3);
    let mut judged = 0;
    for _ in 0..300 {
        let mut files: Vec<Vec<u8>> =
            ranks_of(&mut random, Defect::None).into_iter().map(Rank::file).collect();
        for _ in 0..1 + random.below(8) {
            let rank = random.below(files.len());
            let at = HEADER_BYTES + random.below(files[rank].len() - HEADER_BYTES);
            files[rank][at] ^= 1 << random.below(8);
        }
        let ranks: Result<Vec<Checks>, _> = files.iter().map(|file| Checks::parse(file)).collect();
        if let Ok(ranks) = ranks {
            evenkeel_check::check(&ranks, &Rule::ALL);
            judged += 1;
        }
    }
    assert!(judged > 30, "{judged}");
}
