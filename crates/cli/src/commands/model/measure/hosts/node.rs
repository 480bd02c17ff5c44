//! A node of a measurement between hosts: a process of this program, started through a remote shell. It
//! speaks to the measurement in lines of JSON, and to the other nodes over the fabric.

use super::coordinator::{Lead, PATIENCE, Task};
use super::responder::follow;
use crate::commands::model::command::{kernel, load_average};
use crate::commands::model::measure::local::ranks::hold_on;
use crate::commands::model::measure::samples as measure;
use crate::errors::Failure;
use crate::machine::limits as quota;
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_fabric::{NodeId, ucx};
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Nobody writes into the memory of these nodes.
const SHOWN_BYTES: usize = 4096;
/// Connections that UCX is told to expect.
const NODES: usize = 16;
/// What is left of a node's life when its measurement is over.
const CLOSING: Duration = Duration::from_secs(2);

/// The first that a node says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub version: String,
    /// As the host calls itself.
    pub host: String,
    /// Of the running kernel: the same for hosts that are one machine.
    pub boot: String,
    pub usable_cores: Vec<usize>,
    pub processor: String,
    pub kernel: String,
    /// What reading the clock takes, in nanoseconds.
    pub clock_ns: f64,
    pub load: Option<f64>,
    /// Where the fabric finds it.
    pub address: Vec<u8>,
}

/// The first that it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    pub node: usize,
    pub core: usize,
    pub addresses: Vec<Vec<u8>>,
}

/// What it says to that: it knows the others, and why it could not be held on its core, if so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    pub unpinned: Option<String>,
}

/// A node's whole life. It ends with its standard input.
pub fn serve() -> Result<(), Failure> {
    let failed = |why: String| Failure::Measuring { why };
    let is_over = Arc::new(AtomicBool::new(false));
    let lines = lines(Arc::clone(&is_over));
    let opened = ucx::open(NODES, SHOWN_BYTES, &ucx::EAGER).map_err(|e| failed(e.to_string()))?;
    say(&Hello {
        version: env!("CARGO_PKG_VERSION").into(),
        host: own_name(),
        boot: std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().into(),
        usable_cores: quota::usable_cores(),
        processor: MachineId::here().processor,
        kernel: kernel(),
        clock_ns: measure::clock_ns(),
        load: load_average(),
        address: opened.address().to_vec(),
    });
    let Some(setup) = next::<Setup>(&lines)? else { return Ok(()) };
    let unpinned = hold_on(setup.core).err();
    let mut wire =
        opened.connect(NodeId(setup.node as u32), &setup.addresses).map_err(|e| failed(e.to_string()))?;
    say(&Ready { unpinned });
    if setup.node > 0 {
        follow(&mut wire, || is_over.load(Ordering::Relaxed));
        // Who has lost node 0 waits for the end: that of this process would be taken for the reason.
        while next::<()>(&lines)?.is_some() {}
        return Ok(());
    }
    let mut lead = Lead::new(wire, PATIENCE);
    while let Some(task) = next::<Task>(&lines)? {
        say(&lead.run(&task));
    }
    Ok(())
}

/// The name of this host.
pub fn own_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Standard input, line by line. At its end the measurement is over, whatever this process is doing.
fn lines(is_over: Arc<AtomicBool>) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
        is_over.store(true, Ordering::Relaxed);
        drop(sender);
        // Long enough to close all connections. Killed, because UCX's own end must not meet with what is
        // still under way.
        std::thread::sleep(CLOSING);
        let _ = kill_process(getpid(), Signal::KILL);
    });
    lines
}

fn say(what: &impl Serialize) {
    let mut line = serde_json::to_string(what).expect("plain data has a JSON form");
    line.push('\n');
    // Nobody listens any more: then the end of standard input is near.
    let _ = std::io::stdout().write_all(line.as_bytes()).and_then(|()| std::io::stdout().flush());
}

fn next<T: for<'a> Deserialize<'a>>(lines: &Receiver<String>) -> Result<Option<T>, Failure> {
    let Ok(line) = lines.recv() else { return Ok(None) };
    serde_json::from_str(&line).map(Some).map_err(|e| Failure::Measuring {
        why: format!("this node was told what it does not understand ({e})"),
    })
}
