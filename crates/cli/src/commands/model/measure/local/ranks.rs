//! The ranks of a measurement: processes of this program, each held on a core, that share memory and are
//! given passes.

use super::super::pass_times::PassTimes;
use super::super::signal::now_ns;
use super::rank_pass::{self, BLOCK, PassError, RankPass, Scenario};
use super::signal_memory::SignalMemory;
use crate::errors::MeasurementError;
use crate::machine::{cores, worker};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::BufRead;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What a rank needs to know to take part: the arguments of the hidden command.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct RankArguments {
    /// The process that has made the memory.
    pub pid: u32,
    /// Its descriptor of the memory.
    pub descriptor: i32,
    /// The token of the memory.
    pub token: u64,
    /// The number of the rank.
    pub rank: usize,
}

impl RankArguments {
    fn words(&self) -> [String; 4] {
        let RankArguments { pid, descriptor, token, rank } = self;
        [pid.to_string(), descriptor.to_string(), token.to_string(), rank.to_string()]
    }
}

/// All ranks of a measurement. Rank 0 is this process; the others sleep until there is a pass for them.
pub struct MeasuringRanks {
    memory: SignalMemory,
    peers: Vec<Child>,
    cores: Vec<usize>,
    epoch: u64,
    /// The affinity of this process before the measurement.
    affinity_before: Option<CpuSet>,
    /// Why ranks could not be held on their cores.
    pub unpinned: Option<String>,
}

impl MeasuringRanks {
    /// Starts the peers: `program` with a hidden command.
    pub fn start(program: &Path, peers: usize, cores: &[usize]) -> Result<MeasuringRanks, MeasurementError> {
        let token = now_ns() ^ u64::from(std::process::id()) << 40;
        let memory = SignalMemory::create(token).map_err(|e| failed(e.to_string()))?;
        let mut ranks = MeasuringRanks {
            memory,
            peers: Vec::new(),
            cores: cores.to_vec(),
            epoch: 0,
            affinity_before: sched_getaffinity(None).ok(),
            unpinned: None,
        };
        for rank in 1..=peers {
            let (pid, descriptor) = (std::process::id(), ranks.memory.descriptor());
            let arguments = RankArguments { pid, descriptor, token, rank };
            let mut command = Command::new(program);
            command.args(["model", "rank"]).args(arguments.words());
            let peer = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
            ranks.peers.push(peer.map_err(|e| failed(format!("rank {rank} could not be started ({e})")))?);
        }
        ranks.unpinned = cores::hold_on(&cores[..1]).err().map(|e| e.to_string());
        Ok(ranks)
    }

    /// Whether so many peers and rank 0 share cores.
    pub fn share_cores(&self, peers: usize) -> bool {
        peers + 1 > self.cores.len()
    }

    /// One pass of `turns.0` timed turns, after `turns.1` turns that are not timed.
    pub fn run(
        &mut self,
        scenario: Scenario,
        peers: usize,
        turns: (u64, u64),
    ) -> Result<PassTimes, MeasurementError> {
        let cores = (0..=peers).map(|rank| self.cores[rank % self.cores.len()]).collect();
        self.run_on(scenario, turns, cores, self.share_cores(peers))
    }

    /// The same for rank 0 and one peer that share a core.
    pub fn run_on_one_core(
        &mut self,
        scenario: Scenario,
        turns: (u64, u64),
    ) -> Result<PassTimes, MeasurementError> {
        self.run_on(scenario, turns, vec![self.cores[0]; 2], true)
    }

    fn run_on(
        &mut self,
        scenario: Scenario,
        (timed, warm_up): (u64, u64),
        cores: Vec<usize>,
        shares_cores: bool,
    ) -> Result<PassTimes, MeasurementError> {
        let (peers, turns) = (cores.len() - 1, timed + warm_up);
        let pass = RankPass { scenario, peers, base: self.epoch, turns, warm_up, cores, shares_cores };
        // A stream counts messages, the others count turns.
        self.epoch += turns * if scenario == Scenario::Stream { BLOCK } else { 1 };
        rank_pass::prepare(&self.memory, &pass);
        let line = serde_json::to_string(&pass).expect("passes consist of plain data");
        for peer in &mut self.peers[..peers] {
            if worker::send_line(peer, &line).is_err() {
                return Err(self.lost_rank("a rank does not take its task".into()));
            }
        }
        rank_pass::lead(&self.memory, &pass).map_err(|error: PassError| self.lost_rank(error.to_string()))
    }

    /// The error that names the rank that has ended, or says what else was noticed.
    fn lost_rank(&mut self, noticed: String) -> MeasurementError {
        let mut peers = self.peers.iter_mut().enumerate();
        match peers.find_map(|(at, peer)| Some((at + 1, peer.try_wait().ok()??))) {
            Some((rank, status)) => failed(format!("rank {rank} has ended ({status})")),
            None => failed(noticed),
        }
    }
}

impl Drop for MeasuringRanks {
    fn drop(&mut self) {
        for peer in &mut self.peers {
            drop(peer.stdin.take()); // there are no more passes
        }
        for peer in &mut self.peers {
            // A peer that still waits for a signal would not read its input again.
            let _ = peer.kill();
            let _ = peer.wait();
        }
        if let Some(before) = &self.affinity_before {
            let _ = sched_setaffinity(None, before);
        }
    }
}

fn failed(why: String) -> MeasurementError {
    MeasurementError::Failed { why }
}

/// Works as a peer: takes passes from standard input until it ends.
pub fn serve(arguments: &RankArguments) -> Result<(), MeasurementError> {
    let failed = |why: String| failed(format!("rank {}: {why}", arguments.rank));
    worker::end_with(arguments.pid).map_err(|e| failed(e.to_string()))?;
    let memory = SignalMemory::open(arguments.pid, arguments.descriptor, arguments.token)
        .map_err(|e| failed(e.to_string()))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| failed(e.to_string()))?;
        let pass: RankPass = serde_json::from_str(&line).map_err(|e| failed(e.to_string()))?;
        if let Some(core) = pass.cores.get(arguments.rank) {
            // Where this is not allowed, rank 0 has noticed it for itself and reports it.
            let _ = cores::hold_on(&[*core]);
        }
        rank_pass::follow(&memory, &pass, arguments.rank).map_err(|e| failed(e.to_string()))?;
    }
    Ok(())
}
