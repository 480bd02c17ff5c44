//! One node's process, started through a remote shell: its output, its errors, and its end.

use super::start_command::StartCommand;
use crate::errors::MeasurementError;
use crate::machine::worker::{self, WorkerOutput};
use std::io::Read;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the end of a process is waited for, when something else shows that it is lost, and at the end.
pub const ENDING: Duration = Duration::from_millis(1500);
/// So many bytes of what a process writes to standard error are kept.
const KEPT_BYTES: usize = 2000;

/// The process of a host.
pub struct RemoteNode {
    /// The host's name, as given.
    pub host: String,
    /// The process, which is that of the remote shell.
    pub process: Child,
    /// The command that has started it.
    line: String,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Ends when the process has closed its standard error.
    listener: JoinHandle<()>,
}

impl RemoteNode {
    /// Starts the process; its output goes to a channel.
    pub fn start(
        node: usize,
        host: &str,
        command: &StartCommand,
        output: Sender<(usize, WorkerOutput)>,
    ) -> Result<RemoteNode, MeasurementError> {
        let words = command.line(host);
        let line = shell_words::join(&words);
        let mut process = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| MeasurementError::HostNotStarted {
                host: host.into(),
                why: format!("`{}` cannot be run ({e})", words[0]),
                line: line.clone(),
            })?;
        worker::forward_output(node, &mut process, output);
        let errors = Arc::new(Mutex::new(Vec::new()));
        let listener = keep_errors(process.stderr.take().expect("it is a pipe"), Arc::clone(&errors));
        Ok(RemoteNode { host: host.into(), process, line, errors, listener })
    }

    /// How the process has ended, if it has, or ends now, and the last line that it wrote to standard error.
    pub fn end(&mut self) -> Option<String> {
        let until = Instant::now() + ENDING;
        let status = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break status,
                _ if Instant::now() > until => return None,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        while !self.listener.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let errors = self.errors.lock().expect("no thread panics while it holds the lock");
        let text = String::from_utf8_lossy(&errors);
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let last = last.map_or_else(String::new, |line| format!(", and said: {line}"));
        Some(format!("its process has ended ({status}){last}"))
    }

    /// The error for a process that has not begun to work.
    pub fn not_started(&self, why: String) -> MeasurementError {
        MeasurementError::HostNotStarted { host: self.host.clone(), why, line: self.line.clone() }
    }

    /// The error for a process that was at work.
    pub fn lost(&self, why: String) -> MeasurementError {
        MeasurementError::HostLost { host: self.host.clone(), why }
    }
}

/// Starts a thread that keeps the last bytes of a standard error.
fn keep_errors(mut errors: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut bytes = [0; 512];
        while let Some(n) = errors.read(&mut bytes).ok().filter(|n| *n > 0) {
            let mut kept = kept.lock().expect("no thread panics while it holds the lock");
            kept.extend_from_slice(&bytes[..n]);
            let from = kept.len().saturating_sub(KEPT_BYTES);
            kept.drain(..from);
        }
    })
}
