//! A node of a measurement between hosts: a process of this program, started through a remote shell.

use super::super::samples::clock_ns;
use super::coordinator::Coordinator;
use super::introduction::{NodeIntroduction, NodeReady, NodeSetup};
use super::node_pass::{NodePass, PATIENCE};
use super::responder::respond;
use crate::errors::MeasurementError;
use crate::machine::{cores, system};
use evenkeel_barrier_table::machine::MachineId;
use evenkeel_fabric::{NodeId, ucx};
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Memory that other nodes may write into. No node does, but UCX wants some.
const EXPOSED_BYTES: usize = 4096;
/// Connections that UCX is told to expect.
const NODES: usize = 16;
/// How long a node lives after its measurement is over.
const CLOSING: Duration = Duration::from_secs(2);

/// Works as a node until standard input ends.
pub fn serve() -> Result<(), MeasurementError> {
    let failed = |why: String| MeasurementError::Failed { why };
    let is_over = Arc::new(AtomicBool::new(false));
    let lines = input_lines(Arc::clone(&is_over));
    let opened = ucx::open(NODES, EXPOSED_BYTES, &ucx::EAGER).map_err(|e| failed(e.to_string()))?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    print_line(&NodeIntroduction {
        version: env!("CARGO_PKG_VERSION").into(),
        host: system::host_name(),
        boot: boot.trim().into(),
        usable_cores: cores::usable(),
        processor: MachineId::here().processor,
        kernel: system::kernel(),
        clock_ns: clock_ns(),
        load: system::load_average(),
        address: opened.address().to_vec(),
    });
    let Some(setup) = next::<NodeSetup>(&lines)? else { return Ok(()) };
    let unpinned = cores::hold_on(&[setup.core]).err().map(|e| e.to_string());
    let mut wire =
        opened.connect(NodeId(setup.node as u32), &setup.addresses).map_err(|e| failed(e.to_string()))?;
    print_line(&NodeReady { unpinned });
    if setup.node > 0 {
        respond(&mut wire, || is_over.load(Ordering::Relaxed));
        // A node that has lost node 0 waits to be ended: if it ended by itself, it would be reported as the
        // cause.
        while next::<()>(&lines)?.is_some() {}
        return Ok(());
    }
    let mut coordinator = Coordinator::new(wire, PATIENCE);
    while let Some(pass) = next::<NodePass>(&lines)? {
        print_line(&coordinator.run(&pass));
    }
    Ok(())
}

/// Standard input, line by line. At its end the measurement is over, whatever this process is doing.
fn input_lines(is_over: Arc<AtomicBool>) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
        is_over.store(true, Ordering::Relaxed);
        drop(sender);
        // Long enough to close all connections. Then the process is killed, because UCX's own end must not
        // meet messages that are still under way.
        std::thread::sleep(CLOSING);
        let _ = kill_process(getpid(), Signal::KILL);
    });
    lines
}

fn print_line(value: &impl Serialize) {
    let line = serde_json::to_string(value).expect("it consists of plain data") + "\n";
    // If no process reads it any more, standard input ends soon.
    let mut out = std::io::stdout();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

fn next<T: for<'a> Deserialize<'a>>(lines: &Receiver<String>) -> Result<Option<T>, MeasurementError> {
    let Ok(line) = lines.recv() else { return Ok(None) };
    serde_json::from_str(&line).map(Some).map_err(|e| MeasurementError::Failed {
        why: format!("this node was given a line that it does not understand ({e})"),
    })
}
