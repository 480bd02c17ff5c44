//! The ranks of a measurement: processes of this program, each held on a core, that share memory and
//! are given tasks.

use super::pass::{self as task, Scenario, Task, Times, Trouble};
use super::signal_memory::Wires;
use crate::errors::Failure;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::{BufRead, Write};
use std::process::{Child, Command, Stdio};

/// What a rank needs to know to take part; the hidden command's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub pid: u32,
    pub descriptor: i32,
    pub token: u64,
    pub rank: usize,
}

/// Rank 0 is this process; the others sleep until there is a task for them.
pub struct Machine {
    wires: Wires,
    peers: Vec<Child>,
    cores: Vec<usize>,
    epoch: u64,
    /// Where this process was allowed to run before.
    before: Option<CpuSet>,
    /// Why ranks could not be held on their cores.
    pub unpinned: Option<String>,
}

impl Machine {
    /// Starts the peers: `program` is started with the arguments that `arguments` makes of a place.
    pub fn start(
        program: &std::path::Path,
        peers: usize,
        cores: &[usize],
        arguments: impl Fn(&Place) -> Vec<String>,
    ) -> Result<Machine, Failure> {
        let token = super::signal_memory::now_ns() ^ u64::from(std::process::id()) << 40;
        let failed = |why: String| Failure::Measuring { why };
        let wires = Wires::create(token).map_err(|e| failed(e.to_string()))?;
        let mut machine = Machine {
            wires,
            peers: Vec::new(),
            cores: cores.to_vec(),
            epoch: 0,
            before: sched_getaffinity(None).ok(),
            unpinned: None,
        };
        for rank in 1..=peers {
            let place =
                Place { pid: std::process::id(), descriptor: machine.wires.descriptor(), token, rank };
            let child = Command::new(program)
                .args(arguments(&place))
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn();
            machine.peers.push(child.map_err(|e| failed(format!("rank {rank} could not be started ({e})")))?);
        }
        machine.unpinned = hold_on(cores[0]).err();
        Ok(machine)
    }

    /// Whether so many peers and rank 0 share cores.
    pub fn shares(&self, peers: usize) -> bool {
        peers + 1 > self.cores.len()
    }

    /// One pass. `together`: rank 1 on the core of rank 0.
    pub fn run(
        &mut self,
        scenario: Scenario,
        peers: usize,
        times: u64,
        warm_up: u64,
        together: bool,
    ) -> Result<Times, Failure> {
        let core_of =
            |rank: usize| if together { self.cores[0] } else { self.cores[rank % self.cores.len()] };
        let task = Task {
            scenario,
            peers,
            base: self.epoch,
            times: times + warm_up,
            warm_up,
            cores: (0..=peers).map(core_of).collect(),
            share: together || self.shares(peers),
        };
        // A stream counts messages, the others turns.
        self.epoch += task.times * if scenario == Scenario::Stream { task::BLOCK } else { 1 };
        task::prepare(&self.wires, &task);
        let line = serde_json::to_string(&task).expect("plain data has a JSON form") + "\n";
        for peer in &mut self.peers[..peers] {
            let told =
                peer.stdin.as_mut().map(|pipe| pipe.write_all(line.as_bytes()).and_then(|()| pipe.flush()));
            if !matches!(told, Some(Ok(()))) {
                return Err(self.trouble(&Trouble::Silent));
            }
        }
        task::lead(&self.wires, &task).map_err(|trouble| self.trouble(&trouble))
    }

    fn trouble(&mut self, trouble: &Trouble) -> Failure {
        for (i, peer) in self.peers.iter_mut().enumerate() {
            if let Ok(Some(status)) = peer.try_wait() {
                return Failure::Measuring { why: format!("rank {} has ended ({status})", i + 1) };
            }
        }
        let why = match trouble {
            Trouble::Silent => "a rank did not answer within 20 s",
            Trouble::Wrong => "what a rank got was not what had been sent to it",
        };
        Failure::Measuring { why: why.into() }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for peer in &mut self.peers {
            drop(peer.stdin.take()); // the end of their tasks
        }
        for peer in &mut self.peers {
            // One that still waits for a signal would not look at its tasks again.
            let _ = peer.kill();
            let _ = peer.wait();
        }
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// Holds this process on a core, or says why not.
pub fn hold_on(core: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).map_err(|e| e.to_string())
}

/// A peer's whole life: tasks from standard input until it ends.
pub fn serve(place: &Place) -> Result<(), Failure> {
    let failed = |why: String| Failure::Measuring { why: format!("rank {}: {why}", place.rank) };
    // Nobody is left to wait for when the measurement is gone.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| failed(e.to_string()))?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() as u32 != place.pid) {
        return Err(failed("it was not started by a measurement".into()));
    }
    let wires = Wires::open(place.pid, place.descriptor, place.token).map_err(|e| failed(e.to_string()))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| failed(e.to_string()))?;
        let task: Task = serde_json::from_str(&line).map_err(|e| failed(e.to_string()))?;
        if let Some(core) = task.cores.get(place.rank) {
            let _ = hold_on(*core); // where that is not allowed rank 0 has noticed, and says so
        }
        task::follow(&wires, &task, place.rank).map_err(|trouble| failed(format!("{trouble:?}")))?;
    }
    Ok(())
}
