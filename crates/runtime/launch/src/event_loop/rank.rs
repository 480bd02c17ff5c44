//! One rank: its process and its connections.

use crate::output::Lines;
use crate::pmi1::LONGEST_LINE;
use crate::processes::Started;
use crate::signals;
use rustix::io::Errno;
use rustix::process::Pid;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// So long the rank that reads standard input may leave a line without an end before it is shown: a prompt.
const PROMPT: Duration = Duration::from_millis(50);

/// How much is read at once, bytes: a pipe holds as much.
const PART: usize = 64 * 1024;

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Stdout = 0,
    Stderr = 1,
}

impl Stream {
    pub(super) const ALL: [Stream; 2] = [Stream::Stdout, Stream::Stderr];
}

/// What a client has sent.
pub(super) enum PmiInput {
    /// Whole lines, without their ends.
    Lines(Vec<String>),
    /// What cannot be a line: too long, or no text. The beginning of it.
    Malformed(String),
    /// Nothing, or the client has closed its end.
    Nothing,
}

#[derive(Debug)]
pub(super) struct Rank {
    /// For people: `rank 3`, or rank and group of a spawned one; with the host if there are several.
    pub(super) name: String,
    /// 0 for the world, counted up for each call to spawn.
    pub(super) group: usize,
    /// None when it has ended and has been waited for: the number may be another process's.
    pid: Option<Pid>,
    pmi: Option<OwnedFd>,
    pmi_in: Vec<u8>,
    pmi_out: Vec<u8>,
    outputs: [Option<OwnedFd>; 2],
    lines: [Lines; 2],
    /// Whether it may ask the user something.
    has_input: bool,
    /// Since when there is the beginning of a line.
    rest_since: Option<Instant>,
}

impl Rank {
    pub(super) fn new(name: String, label: String, started: Started, has_input: bool) -> Rank {
        Rank {
            name,
            group: 0,
            pid: Some(started.pid),
            pmi: Some(started.pmi),
            pmi_in: Vec::new(),
            pmi_out: Vec::new(),
            outputs: [Some(started.stdout), Some(started.stderr)],
            lines: [Lines::new(label.clone()), Lines::new(label)],
            has_input,
            rest_since: None,
        }
    }

    pub(super) fn runs_as(&self, pid: Pid) -> bool {
        self.pid == Some(pid)
    }

    pub(super) fn has_ended(&mut self) {
        self.pid = None;
    }

    /// Sends a signal, if the rank runs.
    pub(super) fn send(&self, number: i32) {
        if let Some(pid) = self.pid {
            signals::send(pid, number);
        }
    }

    pub(super) fn pmi(&self) -> Option<BorrowedFd<'_>> {
        self.pmi.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn has_pmi_output(&self) -> bool {
        !self.pmi_out.is_empty()
    }

    pub(super) fn read_pmi(&mut self) -> PmiInput {
        let Some(pmi) = &self.pmi else { return PmiInput::Nothing };
        let mut part = [0; PART];
        match rustix::io::read(pmi, &mut part) {
            Err(Errno::AGAIN | Errno::INTR) => return PmiInput::Nothing,
            // Its end tells; a rank may be a script that outlives the program with this connection.
            Err(_) | Ok(0) => {
                self.pmi = None;
                return PmiInput::Nothing;
            }
            Ok(read) => self.pmi_in.extend_from_slice(&part[..read]),
        }
        let whole = self.pmi_in.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = self.pmi_in.split_off(whole);
        let text = String::from_utf8(mem::replace(&mut self.pmi_in, rest));
        match text {
            Ok(_) if self.pmi_in.len() > LONGEST_LINE => {
                PmiInput::Malformed(String::from_utf8_lossy(&self.pmi_in[..80]).into_owned())
            }
            Ok(text) => PmiInput::Lines(text.lines().map(str::to_string).collect()),
            Err(error) => {
                let bytes = error.as_bytes();
                PmiInput::Malformed(String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned())
            }
        }
    }

    pub(super) fn queue_pmi(&mut self, text: &str) {
        self.pmi_out.extend_from_slice(text.as_bytes());
    }

    /// Sends as much as the connection takes. A client that never reads gets no more than its own questions'
    /// answers queued, and these are limited by what it can send.
    pub(super) fn write_pmi(&mut self) {
        let Some(pmi) = &self.pmi else { return self.pmi_out.clear() };
        while !self.pmi_out.is_empty() {
            match rustix::net::send(pmi, &self.pmi_out, rustix::net::SendFlags::NOSIGNAL) {
                Ok(written) => drop(self.pmi_out.drain(..written)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.pmi_out.clear(),
            }
        }
    }

    pub(super) fn output(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        self.outputs[stream as usize].as_ref().map(AsFd::as_fd)
    }

    pub(super) fn close_output(&mut self, stream: Stream) {
        self.outputs[stream as usize] = None;
    }

    /// Reads once. Appends to `out` what may be passed on. Returns whether there may be more.
    pub(super) fn read_output(&mut self, stream: Stream, out: &mut Vec<u8>) -> bool {
        let Some(pipe) = &self.outputs[stream as usize] else { return false };
        let lines = &mut self.lines[stream as usize];
        let mut part = [0; PART];
        let has_more = match rustix::io::read(pipe, &mut part) {
            Err(Errno::INTR) => true,
            Err(Errno::AGAIN) => false,
            Err(_) | Ok(0) => {
                lines.finish(out);
                self.outputs[stream as usize] = None;
                false
            }
            Ok(read) => {
                lines.take(&part[..read], out);
                true
            }
        };
        self.rest_since = self.lines.iter().any(Lines::has_rest).then(Instant::now);
        has_more
    }

    /// Reads what is left, when all writers have ended.
    pub(super) fn read_rest(&mut self, stream: Stream, out: &mut Vec<u8>) {
        while self.read_output(stream, out) {}
        self.lines[stream as usize].finish(out);
    }

    /// When the beginning of a line is to be shown, if there is one.
    pub(super) fn prompt_at(&self) -> Option<Instant> {
        self.rest_since.filter(|_| self.has_input).map(|since| since + PROMPT)
    }

    pub(super) fn flush_prompt(&mut self, stream: Stream, out: &mut Vec<u8>) {
        self.lines[stream as usize].flush(out);
        if !self.lines.iter().any(Lines::has_rest) {
            self.rest_since = None;
        }
    }
}

#[cfg(test)]
impl Rank {
    /// One that claims to be a process, and the ends of its standard output and standard error.
    pub(super) fn example(pid: i32) -> (Rank, [OwnedFd; 2]) {
        let pipe = || {
            let (read, write) = rustix::pipe::pipe().unwrap();
            rustix::io::ioctl_fionbio(&read, true).unwrap();
            (read, write)
        };
        let ((stdout, to_stdout), (stderr, to_stderr)) = (pipe(), pipe());
        let pmi = std::os::unix::net::UnixStream::pair().unwrap().0.into();
        let started = Started { pid: Pid::from_raw(pid).unwrap(), pmi, stdout, stderr };
        (Rank::new("rank".into(), String::new(), started, false), [to_stdout, to_stderr])
    }
}
