//! A responder on another machine, as it is asked from here.

use super::message::{Introduction, Request};
use crate::hosts::host_process::{self, HostProcess, NotStarted};
use crate::machine::worker::{self, WorkerOutput};
use evenkeel_node::RemoteShell;
use serde::Deserialize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a machine may take until it has introduced itself: it may be far away, or busy.
const START: Duration = Duration::from_secs(10);
/// How long it may take to answer.
pub const ANSWER: Duration = Duration::from_secs(5);

/// A machine that answers.
pub struct OtherMachine {
    /// What it is called here.
    pub host: String,
    process: HostProcess,
    output: Receiver<(usize, WorkerOutput)>,
    begun: Instant,
}

impl OtherMachine {
    /// Starts the responder. [`OtherMachine::introduction`] must follow.
    pub fn start(host: &str, shell: &RemoteShell) -> Result<OtherMachine, String> {
        let program =
            std::env::current_exe().map_err(|e| format!("this program's file is not found ({e})"))?;
        let words = [program.to_string_lossy().into_owned(), "where-responder".into()];
        let (sender, output) = channel();
        let process =
            HostProcess::start(0, host, shell, &words, sender).map_err(|NotStarted { why, .. }| why)?;
        Ok(OtherMachine { host: host.into(), process, output, begun: Instant::now() })
    }

    /// What it says first.
    pub fn introduction(&mut self) -> Result<Introduction, String> {
        let left = START.saturating_sub(self.begun.elapsed());
        let told: Introduction = self.line(left, START)?;
        host_process::check_version(&told.version)?;
        Ok(told)
    }

    /// Asks. The answer is to be fetched by [`OtherMachine::answer`].
    pub fn ask(&mut self, request: &Request) -> Result<(), String> {
        let line = serde_json::to_string(request).expect("it consists of plain data");
        worker::send_line(&mut self.process.process, &line).map_err(|_| self.ended())
    }

    /// The answer, if it comes in time: [`ANSWER`] after machines were asked, all together.
    pub fn answer<T: for<'a> Deserialize<'a>>(&mut self, until: Instant) -> Result<T, String> {
        self.line(until.saturating_duration_since(Instant::now()), ANSWER)
    }

    fn line<T: for<'a> Deserialize<'a>>(&mut self, left: Duration, whole: Duration) -> Result<T, String> {
        let line = match self.output.recv_timeout(left) {
            Ok((_, WorkerOutput::Line(line))) => line,
            Ok((_, WorkerOutput::End)) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("nothing was heard from there within {} s", whole.as_secs()));
            }
        };
        host_process::parse(&line)
    }

    fn ended(&mut self) -> String {
        let line = self.process.line.clone();
        let how = self.process.end().unwrap_or("its process has closed its output".into());
        format!("{how}. It was started with `{line}`")
    }
}
