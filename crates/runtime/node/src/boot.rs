//! Starts one node through a remote shell, in a thread of its own, and sends it this program first where that
//! is missing or another build.
//!
//! What goes over the shell:
//!
//! ```text
//! to it      a script as an argument, in which nothing is secret
//! from it    EVENKEEL-ARCHITECTURE aarch64      it runs nothing of this machine's: the end
//!            EVENKEEL-WANTED                    it wants this program
//! to it      the program's bytes
//! from it    EVENKEEL-NODE {…}                  the node's address
//! to it      {…}                                the key of the connection, and this node's address
//! ```
//!
//! An empty line comes before each word from it. From then on everything goes over the connection. The shell
//! stays open until the node has ended.

mod script;

use crate::identity::{content_hash, to_hexadecimal};
use crate::remote_shell::RemoteShell;
use ring::rand::{SecureRandom, SystemRandom};
pub(crate) use script::EXIT_OTHER_BUILD;
use script::{ARCHITECTURE, WANTED, architecture, script};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// The key of a connection. This copy is overwritten when it is dropped.
pub(crate) type LinkKey = Zeroizing<[u8; 32]>;

/// What the node says.
pub(crate) const NODE: &str = "EVENKEEL-NODE ";
/// What login scripts say before is skipped, up to so many bytes.
const LONGEST_CHATTER: u64 = 1 << 20;
/// So many bytes of what a shell writes to standard error are kept.
const KEPT_BYTES: usize = 2000;
/// How long the end of a shell is waited for when it has closed its output.
const ENDING: Duration = Duration::from_millis(1500);

/// What a node says of itself when it starts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Introduction {
    /// Where it listens, as hexadecimal digits.
    pub address: String,
}

/// What it is told: the key of its connection. The text is overwritten when this value is dropped.
#[derive(Serialize, Deserialize)]
pub(crate) struct Credentials {
    /// Hexadecimal digits.
    pub secret: Zeroizing<String>,
    /// The parent's address.
    pub parent: String,
    /// The hash of the program, if that was sent.
    pub content: Option<String>,
}

/// The last lines that a process has written to standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptErrors(Arc<Mutex<VecDeque<u8>>>);

/// A node that has been started.
pub(crate) struct Booted {
    pub shell: Shell,
    /// Where it listens.
    pub address: Vec<u8>,
    /// The key of the connection to it.
    pub secret: LinkKey,
}

/// The remote shell of a node. It is killed with this value.
pub(crate) struct Shell {
    process: Child,
    /// Open as long as the node is to live.
    stdin: Option<ChildStdin>,
    errors: KeptErrors,
    listener: JoinHandle<()>,
}

/// Process numbers of shells whose nodes are being started.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenShells(Arc<Mutex<Vec<u32>>>);

impl OpenShells {
    fn add(&self, pid: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
    }

    fn remove(&self, pid: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| *known != pid);
    }

    /// Kills them. They have not been waited for, so their numbers are theirs.
    pub(crate) fn kill(&self) {
        for pid in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            kill_group(*pid);
        }
    }
}

/// Kills a shell, which is the head of a group, and what it has started itself.
fn kill_group(pid: u32) {
    if let Some(group) = rustix::process::Pid::from_raw(pid as i32) {
        // It may have ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// What is needed to start a node.
#[derive(Clone)]
pub(crate) struct Boot {
    pub host: String,
    pub shell: RemoteShell,
    /// The address of the node that starts it.
    pub parent: Vec<u8>,
    /// The build of this program, and its file.
    pub identity: String,
    /// Where the node is to listen.
    pub network: String,
    pub ports: (u16, u16),
    /// How long all of it may take.
    pub time: Duration,
    /// The shells that have been started and belong to no [`Shell`] yet.
    pub open: OpenShells,
}

impl Boot {
    /// Starts the node. The error is a sentence that names the host.
    pub(crate) fn run(&self) -> Result<Booted, String> {
        let begun = Instant::now();
        let program = std::fs::read_link("/proc/self/exe").map_err(|why| {
            format!("cannot start a node on {}: this program has no file ({why}).", self.host)
        })?;
        let size = std::fs::metadata("/proc/self/exe").map_or(0, |metadata| metadata.len());
        let script = script(&self.identity, size);
        let program = program.to_string_lossy().into_owned();
        let (first, last) = self.ports;
        let ports = format!("{first}-{last}");
        let words = ["sh".to_string(), "-c".into(), script, program, self.network.clone(), ports];
        let line = self.shell.line(&self.host, &words);
        let mut process = Command::new(&line[0])
            .args(&line[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The terminal's signals go to the client, which passes them on.
            .process_group(0)
            .spawn()
            .map_err(|why| {
                let shell = &line[0];
                format!(
                    "cannot reach host {}: `{shell}` cannot be run ({why}). Name another remote shell: \
                     --remote-shell.",
                    self.host
                )
            })?;
        self.open.add(process.id());
        let errors = KeptErrors::default();
        let listener = errors.keep(process.stderr.take().expect("it is a pipe"));
        let stdout = process.stdout.take().expect("it is a pipe");
        let stdin = process.stdin.take();
        let mut shell = Shell { process, stdin, errors, listener };
        let overdue = Overdue::watch(shell.process.id(), begun + self.time);
        let talked = self.talk(&mut shell, stdout);
        self.open.remove(shell.process.id());
        if overdue.has_ended() {
            let seconds = self.time.as_secs();
            return Err(format!(
                "host {} has not answered within {seconds} s. Check that `{}` leads there without asking \
                 anything.",
                self.host,
                shell_words::join(&line[..line.len().min(2)])
            ));
        }
        match talked {
            Ok((address, secret)) => Ok(Booted { shell, address, secret }),
            Err(Some(sentence)) => Err(sentence),
            Err(None) => Err(self.ended(&mut shell)),
        }
    }

    /// The conversation. The error is a sentence, or None if the shell has ended.
    fn talk(
        &self,
        shell: &mut Shell,
        stdout: impl Read + Send + 'static,
    ) -> Result<(Vec<u8>, LinkKey), Option<String>> {
        let mut lines = BufReader::new(stdout.take(LONGEST_CHATTER));
        let mut content = None;
        loop {
            let mut line = Vec::new();
            match lines.read_until(b'\n', &mut line) {
                Ok(read) if read > 0 => {}
                _ => return Err(None),
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if let Some(theirs) = line.strip_prefix(ARCHITECTURE) {
                return Err(Some(format!(
                    "host {} is a machine of another kind ({theirs}, and this one is {}). Name hosts of one \
                     kind.",
                    self.host,
                    architecture()
                )));
            }
            if line == WANTED {
                let bytes = std::fs::read("/proc/self/exe").map_err(|_| None)?;
                content = Some(content_hash(&bytes));
                shell.write(&bytes)?;
            }
            let Some(text) = line.strip_prefix(NODE) else { continue };
            let introduction: Option<Introduction> = serde_json::from_str(text).ok();
            let address = introduction.and_then(|it| crate::identity::from_hexadecimal(&it.address));
            let Some(address) = address else {
                return Err(Some(format!("host {} did not say where its node is.", self.host)));
            };
            let secret = self.introduce(shell, content)?;
            drain(lines);
            return Ok((address, secret));
        }
    }

    /// Makes the key of the connection, and tells the node.
    fn introduce(&self, shell: &mut Shell, content: Option<String>) -> Result<LinkKey, Option<String>> {
        let mut secret = Zeroizing::new([0; 32]);
        let refusal =
            || Some(format!("no key for the node on {}: the kernel has no random bytes.", self.host));
        SystemRandom::new().fill(&mut secret[..]).map_err(|_| refusal())?;
        let credentials = Credentials {
            secret: Zeroizing::new(to_hexadecimal(&secret[..])),
            parent: to_hexadecimal(&self.parent),
            content,
        };
        let mut text =
            Zeroizing::new(serde_json::to_string(&credentials).expect("texts can be written as JSON"));
        text.push('\n');
        shell.write(text.as_bytes())?;
        Ok(secret)
    }

    /// The shell has ended before there was a node.
    fn ended(&self, shell: &mut Shell) -> String {
        let said = shell.end();
        format!(
            "cannot start a node on host {}: its remote shell has ended{said}. Check the host's name and \
             --remote-shell.",
            self.host
        )
    }
}

/// Nothing of interest comes after the introduction; a full pipe must not hold up the shell.
fn drain(mut rest: BufReader<impl Read + Send + 'static>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 512];
        while rest.read(&mut bytes).is_ok_and(|read| read > 0) {}
    });
}

impl Shell {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Option<String>> {
        let stdin = self.stdin.as_mut().ok_or(None)?;
        stdin.write_all(bytes).and_then(|()| stdin.flush()).map_err(|_| None)
    }

    /// The number of its process on this host.
    pub(crate) fn pid(&self) -> i32 {
        self.process.id() as i32
    }

    /// How the shell ends, if it does so now, and what it said, for a sentence.
    pub(crate) fn end(&mut self) -> String {
        drop(self.stdin.take());
        let until = Instant::now() + ENDING;
        let status = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break format!(" ({status})"),
                Err(_) => break String::new(),
                _ if Instant::now() > until => break String::new(),
                _ => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        while !self.listener.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        match self.errors.last_line() {
            Some(line) => format!("{status}, and said: {line}"),
            None => status,
        }
    }

    /// Waits until `until` for the end of a shell whose node has ended.
    pub(crate) fn wait(&mut self, until: Instant) {
        drop(self.stdin.take());
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// What it has said last.
    pub(crate) fn last_line(&self) -> Option<String> {
        self.errors.last_line()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            kill_group(self.process.id());
            let _ = self.process.wait();
        }
    }
}

impl KeptErrors {
    fn keep(&self, mut errors: ChildStderr) -> JoinHandle<()> {
        let kept = self.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 512];
            while let Some(read) = errors.read(&mut bytes).ok().filter(|read| *read > 0) {
                let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&bytes[..read]);
                let from = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..from);
            }
        })
    }

    fn last_line(&self) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept.iter().copied().collect::<Vec<u8>>()).into_owned();
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_string)
    }
}

/// Kills a shell that takes too long, so that the thread that reads from it goes on.
struct Overdue {
    done: std::sync::mpsc::Sender<()>,
    thread: JoinHandle<bool>,
}

impl Overdue {
    fn watch(pid: u32, at: Instant) -> Overdue {
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let left = at.saturating_duration_since(Instant::now());
            let is_over = is_done.recv_timeout(left) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if is_over {
                // Its number is not given to another process before it has been waited for.
                kill_group(pid);
            }
            is_over
        });
        Overdue { done, thread }
    }

    /// Whether the time was over.
    fn has_ended(self) -> bool {
        drop(self.done);
        self.thread.join().unwrap_or(false)
    }
}
