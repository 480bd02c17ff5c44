//! A simulator of MPI programs in virtual time, which knows which rank waited for which.
//!
//! Each call has work before it and a cost; it ends when everybody that it needs has entered the call that it
//! needs, and its cost later. Programs are made event by event, each event at the end of all ranks that take
//! part in it, so they cannot deadlock.

use evenkeel_random::Random;
use evenkeel_trace::format::Ending;
use evenkeel_trace::times::file::{Call, Comm, Remark, Site, Times};
use evenkeel_trace::times::format::{Live, Moment, Start};
use evenkeel_trace::times::shape::{Envelope, NO_PEER, NO_TAG, Role, Shape};

/// A call: rank, and which of its calls.
pub type At = (usize, usize);

/// What a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Starts MPI, alone.
    Init,
    Send {
        to: usize,
        tag: i32,
        recv: At,
        is_rendezvous: bool,
    },
    Recv {
        from: usize,
        tag: i32,
        send: At,
    },
    Isend {
        to: usize,
        tag: i32,
        post: At,
    },
    Irecv,
    /// Completes these: sends of the posted receives, and (source, tag, send, which of the posted receives).
    Waitall {
        sends: Vec<At>,
        receives: Vec<(usize, i32, At, u64)>,
    },
    Collective {
        name: &'static str,
        root: Option<usize>,
        nth: usize,
    },
}

#[derive(Clone, Debug)]
pub struct SimulatedCall {
    pub work: i64,
    pub cost: i64,
    pub action: Action,
}

/// A program: by rank, its calls.
#[derive(Clone, Debug)]
pub struct Program {
    pub ranks: Vec<Vec<SimulatedCall>>,
    /// By collective: the calls of all ranks.
    collectives: Vec<Vec<At>>,
    posted: Vec<u64>,
}

/// What happened: by rank and call, when it began, when what it needed was there, and when it ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub begin: Vec<Vec<i64>>,
    pub ready: Vec<Vec<i64>>,
    pub end: Vec<Vec<i64>>,
}

impl Outcome {
    pub fn makespan(&self) -> i64 {
        self.end.iter().filter_map(|ends| ends.last().copied()).max().unwrap()
    }
}

const COLLECTIVES: [&str; 7] = ["Barrier", "Allreduce", "Bcast", "Reduce", "Scan", "Alltoall", "Gather"];

impl Program {
    pub fn new(ranks: usize) -> Program {
        let mut program =
            Program { ranks: vec![Vec::new(); ranks], collectives: Vec::new(), posted: vec![0; ranks] };
        for rank in 0..ranks {
            program.push(rank, 5, 10, Action::Init);
        }
        program
    }

    pub fn push(&mut self, rank: usize, work: i64, cost: i64, action: Action) -> At {
        self.ranks[rank].push(SimulatedCall { work, cost, action });
        (rank, self.ranks[rank].len() - 1)
    }

    fn next(&self, rank: usize) -> At {
        (rank, self.ranks[rank].len())
    }

    /// A blocking message. An eager send takes no time.
    pub fn message(&mut self, from: usize, to: usize, tag: i32, is_rendezvous: bool, times: [i64; 4]) {
        let (send, recv) = (self.next(from), self.next(to));
        let cost = if is_rendezvous { times[1] } else { 0 };
        self.push(from, times[0], cost, Action::Send { to, tag, recv, is_rendezvous });
        self.push(to, times[2], times[3], Action::Recv { from, tag, send });
    }

    /// All of these ranks exchange messages with their neighbours in a ring, without blocking.
    pub fn exchange(&mut self, members: &[usize], tag: i32, random: &mut Random) {
        let count = members.len();
        let firsts: Vec<usize> = members.iter().map(|&rank| self.ranks[rank].len()).collect();
        for (place, &rank) in members.iter().enumerate() {
            let right = (place + 1) % count;
            let left = (place + count - 1) % count;
            let mut work = || random.less_than(60) as i64;
            let works = [work(), work(), work(), work()];
            let number = self.posted[rank];
            self.posted[rank] += 1;
            self.push(rank, works[0], 2, Action::Irecv);
            let post = (members[right], firsts[right]);
            self.push(rank, works[1], 3, Action::Isend { to: members[right], tag, post });
            let send = (members[left], firsts[left] + 1);
            let receives = vec![(members[left], tag, send, number)];
            self.push(rank, works[2], works[3] + 1, Action::Waitall { sends: vec![post], receives });
        }
    }

    pub fn collective(
        &mut self,
        name: &'static str,
        root: Option<usize>,
        mut times: impl FnMut() -> (i64, i64),
    ) {
        let nth = self.collectives.len();
        let ranks = 0..self.ranks.len();
        let calls = ranks.map(|rank| {
            let (work, cost) = times();
            self.push(rank, work, cost, Action::Collective { name, root, nth })
        });
        let calls = calls.collect();
        self.collectives.push(calls);
    }

    /// Any program; it ends in `MPI_Finalize`.
    pub fn random(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let ranks = 2 + random.below(6);
        let mut program = Program::new(ranks);
        for _ in 0..random.below(60) {
            match random.below(8) {
                0..=3 => {
                    let from = random.below(ranks);
                    let to = (from + 1 + random.below(ranks - 1)) % ranks;
                    let mut time = |most: u64| random.less_than(most) as i64;
                    let times = [time(200), 1 + time(20), time(200), 1 + time(20)];
                    let tag = time(2) as i32;
                    program.message(from, to, tag, time(2) == 0, times);
                }
                4 | 5 => {
                    let mut members: Vec<usize> = (0..ranks).collect();
                    random.shuffle(&mut members);
                    members.truncate(2 + random.below(ranks - 1));
                    // A tag of their own: a ring of two sends two messages between the same ranks.
                    program.exchange(&members, 7, &mut random);
                }
                _ => {
                    let name = COLLECTIVES[random.below(COLLECTIVES.len())];
                    let root = matches!(name, "Bcast" | "Reduce" | "Gather").then(|| random.below(ranks));
                    program.collective(name, root, || {
                        (random.less_than(300) as i64, random.less_than(30) as i64)
                    });
                }
            }
        }
        program.collective("Finalize", None, || (random.less_than(40) as i64, 5));
        program
    }

    /// Runs it.
    pub fn run(&self) -> Outcome {
        let unknown: Vec<Vec<i64>> = self.ranks.iter().map(|calls| vec![-1; calls.len()]).collect();
        let mut all = Outcome { begin: unknown.clone(), ready: unknown.clone(), end: unknown };
        loop {
            let mut has_moved = false;
            for (rank, calls) in self.ranks.iter().enumerate() {
                for (number, call) in calls.iter().enumerate() {
                    if all.end[rank][number] >= 0 {
                        continue;
                    }
                    let before = if number == 0 { 0 } else { all.end[rank][number - 1] };
                    has_moved |= all.begin[rank][number] < 0;
                    all.begin[rank][number] = before + call.work;
                    let Some(ready) = self.ready(&all, (rank, number)) else { break };
                    all.ready[rank][number] = ready;
                    all.end[rank][number] = ready + call.cost;
                    has_moved = true;
                }
            }
            if !has_moved {
                assert!(all.end.iter().flatten().all(|&end| end >= 0), "the program has a deadlock");
                return all;
            }
        }
    }

    /// When what a call needs is there, if that is known yet.
    fn ready(&self, all: &Outcome, at: At) -> Option<i64> {
        let begin = |(rank, number): At| Some(all.begin[rank][number]).filter(|&begin| begin >= 0);
        let own = begin(at)?;
        let latest =
            |needed: Vec<At>| needed.into_iter().try_fold(own, |latest, it| Some(latest.max(begin(it)?)));
        match &self.ranks[at.0][at.1].action {
            Action::Init | Action::Isend { .. } | Action::Irecv => Some(own),
            Action::Send { recv, is_rendezvous, .. } => {
                latest(if *is_rendezvous { vec![*recv] } else { vec![] })
            }
            Action::Recv { send, .. } => latest(vec![*send]),
            Action::Waitall { sends, receives } => {
                latest(sends.iter().copied().chain(receives.iter().map(|it| it.2)).collect())
            }
            Action::Collective { name, root, nth } => {
                let members = &self.collectives[*nth];
                latest(match *name {
                    "Bcast" => vec![members[root.unwrap()]],
                    "Reduce" | "Gather" if *root != Some(at.0) => vec![],
                    "Scan" => members[..=at.0].to_vec(),
                    _ => members.clone(),
                })
            }
        }
    }

    /// The files of its ranks.
    pub fn times(&self, outcome: &Outcome) -> Vec<Times> {
        (0..self.ranks.len()).map(|rank| self.file(rank, outcome)).collect()
    }

    fn file(&self, rank: usize, outcome: &Outcome) -> Times {
        let ranks = self.ranks.len();
        let start = Start {
            ranks: ranks as u32,
            rank: rank as u32,
            before_init: Moment { ticks: 0, ns: 0 },
            host_name: "simulated".into(),
            ..Start::default()
        };
        let live =
            Live { calls: self.ranks[rank].len() as u64, ending: Ending::Finalized, ..Live::default() };
        let world = Comm { members: (0..ranks as i32).collect(), ..Comm::default() };
        let mut times = Times { start, live, comms: vec![world], ..Times::default() };
        times.sites.push(Site { module: None, offset: 0 });
        for (number, call) in self.ranks[rank].iter().enumerate() {
            let (name, shape) = described(&call.action);
            let known = times.functions.iter().position(|function| function == name);
            let function = known.unwrap_or_else(|| {
                times.functions.push(name.into());
                times.functions.len() - 1
            });
            if let Action::Waitall { receives, .. } = &call.action {
                for &(from, tag, _, posted) in receives {
                    times.remarks.push(Remark::Took(posted, envelope(from, tag)));
                }
            }
            times.shapes.push(Shape { function: function as u32, ..shape });
            times.calls.push(Call {
                thread: 0,
                shape: number as u32,
                entry: outcome.begin[rank][number] as u64,
                exit: outcome.end[rank][number] as u64,
                remarks_end: times.remarks.len() as u32,
            });
        }
        times
    }
}

fn envelope(peer: usize, tag: i32) -> Envelope {
    Envelope { peer: peer as i32, tag, bytes: Some(8) }
}

fn described(action: &Action) -> (&'static str, Shape) {
    let shape = |role: Role, first: Envelope| Shape { comm: Some(0), role, first, ..Shape::default() };
    match action {
        Action::Init => ("MPI_Init", Shape::default()),
        Action::Send { to, tag, .. } => ("MPI_Send", shape(Role::Send, envelope(*to, *tag))),
        Action::Isend { to, tag, .. } => ("MPI_Isend", shape(Role::Send, envelope(*to, *tag))),
        Action::Recv { from, tag, .. } => ("MPI_Recv", shape(Role::Receive, envelope(*from, *tag))),
        Action::Irecv => ("MPI_Irecv", shape(Role::Post, Envelope::default())),
        Action::Waitall { .. } => ("MPI_Waitall", Shape::default()),
        Action::Collective { name: "Finalize", .. } => ("MPI_Finalize", Shape::default()),
        Action::Collective { name, root, .. } => {
            let peer = root.map_or(NO_PEER, |root| root as i32);
            let name = match *name {
                "Barrier" => "MPI_Barrier",
                "Allreduce" => "MPI_Allreduce",
                "Bcast" => "MPI_Bcast",
                "Reduce" => "MPI_Reduce",
                "Scan" => "MPI_Scan",
                "Alltoall" => "MPI_Alltoall",
                _ => "MPI_Gather",
            };
            (name, shape(Role::Collective, Envelope { peer, tag: NO_TAG, bytes: Some(8) }))
        }
    }
}
