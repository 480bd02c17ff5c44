//! A process on a host: its output, its errors, and its end.

use crate::machine::worker::{self, WorkerOutput};
use evenkeel_node::RemoteShell;
use serde::Deserialize;
use std::io::Read;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the end of a process is waited for, when something else shows that it is lost, and at the end.
const ENDING: Duration = Duration::from_millis(1500);
/// So many bytes of what a process writes to standard error are kept.
const KEPT_BYTES: usize = 2000;

/// The process could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotStarted {
    /// Why.
    pub why: String,
    /// The command line.
    pub line: String,
}

/// The process of a host. It is killed with this value.
pub struct HostProcess {
    /// The host's name, as given.
    pub host: String,
    /// The process, which is that of the remote shell.
    pub process: Child,
    /// The command that has started it.
    pub line: String,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Ends when the process has closed its standard error.
    listener: JoinHandle<()>,
}

impl HostProcess {
    /// Starts `words` on a host. Its output goes to a channel, with a number.
    pub fn start(
        number: usize,
        host: &str,
        shell: &RemoteShell,
        words: &[String],
        output: Sender<(usize, WorkerOutput)>,
    ) -> Result<HostProcess, NotStarted> {
        let words = shell.line(host, words);
        let line = shell_words::join(&words);
        let mut process = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| NotStarted {
                why: format!("`{}` cannot be run ({e})", words[0]),
                line: line.clone(),
            })?;
        worker::forward_output(number, &mut process, output);
        let errors = Arc::new(Mutex::new(Vec::new()));
        let listener = keep_errors(process.stderr.take().expect("it is a pipe"), Arc::clone(&errors));
        Ok(HostProcess { host: host.into(), process, line, errors, listener })
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
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a line of the process says; else the text of a login script may have come first.
pub fn parse<T: for<'a> Deserialize<'a>>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|_| {
        let start: String = line.chars().take(80).collect();
        format!("instead of its process something else answered: `{start}`")
    })
}

/// Whether a process is of this version; else why it is refused.
pub fn check_version(theirs: &str) -> Result<(), String> {
    let ours = env!("CARGO_PKG_VERSION");
    let refusal = || format!("evenkeel {theirs} is installed there, and this is {ours}");
    if theirs == ours { Ok(()) } else { Err(refusal()) }
}

/// Ends processes that end when their input does, within [`ENDING`].
pub fn end_all(processes: &mut [HostProcess]) {
    for process in &mut *processes {
        drop(process.process.stdin.take());
    }
    let until = Instant::now() + ENDING;
    for HostProcess { process, .. } in processes {
        while matches!(process.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
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
