//! Worker processes: this program starts itself with a hidden command, gives tasks as lines on standard
//! input, and gets answers as lines on standard output.

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::sync::mpsc::Sender;
use thiserror::Error;

/// What a worker does with its standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerOutput {
    /// It has written a line.
    Line(String),
    /// It has closed it, usually by ending.
    End,
}

/// Why a worker refuses to work.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// Its parent is another process.
    #[error("it was not started by a measurement")]
    OtherParent,
    /// The kernel does not end it with its parent.
    #[error("it cannot be made to end with its parent ({0})")]
    Kernel(#[from] rustix::io::Errno),
}

/// Writes a line to a worker. The error means that the worker does not read any more.
pub fn send_line(worker: &mut Child, line: &str) -> std::io::Result<()> {
    let input = worker.stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
    writeln!(input, "{line}")?;
    input.flush()
}

/// Starts a thread that sends the output of a worker, which has this number, to a channel.
pub fn forward_output(number: usize, worker: &mut Child, to: Sender<(usize, WorkerOutput)>) {
    let output = worker.stdout.take().expect("standard output is a pipe");
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // If the receiver is gone, the line is of no use any more.
            let _ = to.send((number, WorkerOutput::Line(line)));
        }
        let _ = to.send((number, WorkerOutput::End));
    });
}

/// In a worker: it is killed when the process that has started it ends, and does not work for any other
/// process.
pub fn end_with(starter: u32) -> Result<(), WorkerError> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = getppid().map(|parent| parent.as_raw_nonzero().get() as u32);
    if parent == Some(starter) { Ok(()) } else { Err(WorkerError::OtherParent) }
}
