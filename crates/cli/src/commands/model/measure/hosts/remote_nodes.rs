//! The processes of a measurement between hosts: one on each, started through a remote shell. Here they
//! are told what to do, and here it is noticed when one has ended.

use super::coordinator::{PATIENCE, Task, Trouble};
use super::node::{Hello, Ready, Setup, own_name};
use crate::commands::model::measure::local::pass::Times;
use crate::errors::Failure;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a host may take until its process has said something.
const START: Duration = Duration::from_secs(30);
/// How long the end of a process is waited for, when something else says that it is lost, and at the end.
const END: Duration = Duration::from_millis(1500);
/// So much of what a process says to standard error is kept.
const KEPT: usize = 2000;

/// What has to be known to start processes on other hosts.
#[derive(Clone, Debug)]
pub struct Way {
    /// The remote shell, and its arguments before the host.
    pub shell: Vec<String>,
    /// What is run there.
    pub words: Vec<String>,
}

impl Way {
    /// The command line that starts the process of a host. This one needs no shell.
    fn line(&self, host: &str) -> Vec<String> {
        if host == own_name() {
            return self.words.clone();
        }
        // Remote shells put words together and have them taken apart again.
        let words = self.words.iter().map(|word| shell_words::quote(word).into_owned());
        self.shell.iter().cloned().chain([host.to_string()]).chain(words).collect()
    }
}

struct Remote {
    host: String,
    line: String,
    child: Child,
    said: Arc<Mutex<Vec<u8>>>,
    /// Ends when all has been said.
    listener: JoinHandle<()>,
}

enum Heard {
    Line(String),
    End,
}

/// All processes. They end with it.
pub struct Job {
    remotes: Vec<Remote>,
    heard: Receiver<(usize, Heard)>,
    /// In the order of hosts.
    pub hellos: Vec<Hello>,
    /// The core that each node was to be held on, and why one could not, if so.
    pub cores: Vec<usize>,
    pub unpinned: Option<String>,
}

impl Job {
    /// Starts a process on each host, and makes them known to each other.
    pub fn start(hosts: &[String], way: &Way) -> Result<Job, Failure> {
        let (sender, heard) = channel();
        let mut job =
            Job { remotes: Vec::new(), heard, hellos: Vec::new(), cores: Vec::new(), unpinned: None };
        for (node, host) in hosts.iter().enumerate() {
            job.remotes.push(Remote::start(node, host, way, &sender)?);
        }
        job.hellos = job.line_of_each::<Hello>()?;
        for (hello, remote) in job.hellos.iter().zip(&job.remotes) {
            if hello.version != env!("CARGO_PKG_VERSION") {
                let why = format!(
                    "evenkeel {} is installed there, and this is {}",
                    hello.version,
                    env!("CARGO_PKG_VERSION")
                );
                return Err(remote.not_started(why));
            }
        }
        check_different(&job.hellos, hosts)?;
        job.cores = cores(&job.hellos);
        let addresses: Vec<Vec<u8>> = job.hellos.iter().map(|h| h.address.clone()).collect();
        for node in 0..job.remotes.len() {
            let setup = Setup { node, core: job.cores[node], addresses: addresses.clone() };
            job.tell(node, &setup)?;
        }
        job.unpinned = job.line_of_each::<Ready>()?.into_iter().find_map(|ready| ready.unpinned);
        Ok(job)
    }

    /// Whether node 0 and so many peers have fewer cores than they are.
    pub fn shares(&self, peers: usize) -> bool {
        too_few(&self.hellos[..=peers])
    }

    /// One pass.
    pub fn run(&mut self, task: &Task) -> Result<Times, Failure> {
        self.tell(0, task)?;
        let longest = PATIENCE * 3 + Duration::from_micros(task.enough_us);
        let (_, line) = self.hear(longest, |job| job.silent(&[0]))?;
        let outcome: Result<Times, Trouble> = self.understood(0, &line)?;
        outcome.map_err(|trouble| match trouble {
            Trouble::Silent(nodes) => self.silent(&nodes),
            Trouble::Wrong(node) => self.remotes[node]
                .lost("what it got, or what came from it, was not what had been sent".into()),
            Trouble::Lost(node, why) => {
                self.gone(node, &format!("the network gave the way there up ({why})"))
            }
        })
    }

    /// One line of each node.
    fn line_of_each<T: for<'a> Deserialize<'a>>(&mut self) -> Result<Vec<T>, Failure> {
        let mut answers: Vec<Option<T>> = self.remotes.iter().map(|_| None).collect();
        let until = Instant::now() + START;
        while let Some(missing) = answers.iter().position(Option::is_none) {
            let left = until.saturating_duration_since(Instant::now());
            let silent = |job: &mut Job| {
                job.remotes[missing]
                    .not_started(format!("nothing was heard from there within {} s", START.as_secs()))
            };
            let (node, line) = self.hear(left, silent)?;
            answers[node] = Some(self.understood(node, &line)?);
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// The next line of any node. The end of a node is the end of the measurement.
    fn hear(
        &mut self,
        longest: Duration,
        silent: impl FnOnce(&mut Job) -> Failure,
    ) -> Result<(usize, String), Failure> {
        match self.heard.recv_timeout(longest) {
            Ok((node, Heard::Line(line))) => Ok((node, line)),
            Ok((node, Heard::End)) => Err(self.gone(node, "it has closed its output")),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(silent(self)),
        }
    }

    fn understood<T: for<'a> Deserialize<'a>>(&mut self, node: usize, line: &str) -> Result<T, Failure> {
        // What a login script prints comes first.
        serde_json::from_str(line).map_err(|_| {
            let start: String = line.chars().take(80).collect();
            self.remotes[node]
                .not_started(format!("instead of its process something else answered: `{start}`"))
        })
    }

    fn tell(&mut self, node: usize, what: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(what).expect("plain data has a JSON form") + "\n";
        let told = self.remotes[node]
            .child
            .stdin
            .as_mut()
            .map(|pipe| pipe.write_all(line.as_bytes()).and_then(|()| pipe.flush()));
        if matches!(told, Some(Ok(()))) { Ok(()) } else { Err(self.gone(node, "it has closed its input")) }
    }

    /// A node is lost: in the words of its end if it has ended, else as it was noticed.
    fn gone(&mut self, node: usize, noticed: &str) -> Failure {
        let had_begun = !self.hellos.is_empty();
        let remote = &mut self.remotes[node];
        let why = remote.ended().unwrap_or_else(|| noticed.to_string());
        if had_begun { remote.lost(why) } else { remote.not_started(why) }
    }

    fn silent(&mut self, nodes: &[usize]) -> Failure {
        for node in nodes {
            if let Some(why) = self.remotes[*node].ended() {
                return self.remotes[*node].lost(why);
            }
        }
        let names: Vec<&str> = nodes.iter().map(|node| self.remotes[*node].host.as_str()).collect();
        Failure::HostLost {
            host: names.join(", "),
            why: format!("it has not answered for {} s", PATIENCE.as_secs()),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        for remote in &mut self.remotes {
            drop(remote.child.stdin.take()); // the end of their measurement
        }
        let until = Instant::now() + END;
        for remote in &mut self.remotes {
            while matches!(remote.child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            let _ = remote.child.kill();
            let _ = remote.child.wait();
        }
    }
}

impl Remote {
    fn start(node: usize, host: &str, way: &Way, heard: &Sender<(usize, Heard)>) -> Result<Remote, Failure> {
        let line = way.line(host);
        let shown = shell_words::join(&line);
        let child = Command::new(&line[0])
            .args(&line[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|e| Failure::HostStart {
            host: host.into(),
            line: shown.clone(),
            why: format!("`{}` cannot be run ({e})", line[0]),
        })?;
        let (output, mut errors) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let (heard, said) = (heard.clone(), Arc::new(Mutex::new(Vec::new())));
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = heard.send((node, Heard::Line(line)));
            }
            let _ = heard.send((node, Heard::End));
        });
        let keep = Arc::clone(&said);
        let listener = std::thread::spawn(move || {
            let mut bytes = [0; 512];
            while let Some(n) = errors.read(&mut bytes).ok().filter(|n| *n > 0) {
                let mut kept = keep.lock().expect("nobody panics with it");
                kept.extend_from_slice(&bytes[..n]);
                let from = kept.len().saturating_sub(KEPT);
                kept.drain(..from);
            }
        });
        Ok(Remote { host: host.into(), line: shown, child, said, listener })
    }

    /// How it has ended, if it has, or does now, and what it said last.
    fn ended(&mut self) -> Option<String> {
        let until = Instant::now() + END;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                _ if Instant::now() > until => return None,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        while !self.listener.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let kept = self.said.lock().expect("nobody panics with it");
        let text = String::from_utf8_lossy(&kept);
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let said = last.map_or_else(String::new, |line| format!(", and said: {line}"));
        Some(format!("its process has ended ({status}){said}"))
    }

    fn not_started(&self, why: String) -> Failure {
        Failure::HostStart { host: self.host.clone(), line: self.line.clone(), why }
    }

    fn lost(&self, why: String) -> Failure {
        Failure::HostLost { host: self.host.clone(), why }
    }
}

/// Two names of one host would measure memory, not a network.
fn check_different(hellos: &[Hello], hosts: &[String]) -> Result<(), Failure> {
    let mut seen = HashMap::new();
    for (hello, host) in hellos.iter().zip(hosts) {
        if let Some(other) = seen.insert((&hello.boot, &hello.host), host) {
            let why = format!("{other} and {host} are the same host, which calls itself {}", hello.host);
            return Err(Failure::Hosts { given: hosts.join(","), why });
        }
    }
    Ok(())
}

/// A core for each node: hosts that are one machine take turns among its cores.
fn cores(hellos: &[Hello]) -> Vec<usize> {
    let mut taken: HashMap<&str, usize> = HashMap::new();
    let mut cores = Vec::new();
    for hello in hellos {
        let turn = taken.entry(&hello.boot).or_default();
        cores.push(hello.usable_cores.get(*turn % hello.usable_cores.len().max(1)).copied().unwrap_or(0));
        *turn += 1;
    }
    cores
}

fn too_few(hellos: &[Hello]) -> bool {
    let mut on: HashMap<&str, usize> = HashMap::new();
    hellos.iter().any(|hello| {
        let processes = on.entry(&hello.boot).or_default();
        *processes += 1;
        *processes > hello.usable_cores.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(host: &str, boot: &str, usable_cores: &[usize]) -> Hello {
        Hello {
            version: String::new(),
            host: host.into(),
            boot: boot.into(),
            usable_cores: usable_cores.to_vec(),
            processor: String::new(),
            kernel: String::new(),
            clock_ns: 0.0,
            load: None,
            address: Vec::new(),
        }
    }

    #[test]
    fn hosts_that_are_one_machine_share_its_cores() {
        let real = [hello("a", "1", &[4, 5]), hello("b", "2", &[0]), hello("c", "3", &[7])];
        assert_eq!((cores(&real), too_few(&real)), (vec![4, 0, 7], false));
        let virtual_ = ["a", "b", "c"].map(|name| hello(name, "1", &[4, 5]));
        assert_eq!(cores(&virtual_), [4, 5, 4]);
        assert!(too_few(&virtual_) && !too_few(&virtual_[..2]));
        let hosts = ["a", "b", "c"].map(String::from);
        assert!(check_different(&virtual_, &hosts).is_ok() && check_different(&real, &hosts).is_ok());
        let twice = [hello("a", "1", &[0]), hello("b", "1", &[0]), hello("a", "1", &[0])];
        assert!(
            check_different(&twice, &hosts).unwrap_err().to_string().contains("a and c are the same host")
        );
    }

    #[test]
    fn words_survive_a_remote_shell() {
        let way = Way {
            shell: vec!["ssh".into(), "-q".into()],
            words: vec!["/a b/evenkeel".into(), "model".into()],
        };
        assert_eq!(way.line("far.example"), ["ssh", "-q", "far.example", "'/a b/evenkeel'", "model"]);
        assert_eq!(way.line(&own_name()), ["/a b/evenkeel", "model"]);
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_named_with_what_was_said() {
        let way = Way {
            shell: ["sh", "-c", "echo no route to $0 >&2; exit 255"].map(String::from).to_vec(),
            words: vec!["x".into()],
        };
        let failure =
            Job::start(&["far.example".into(), "b.example".into()], &way).err().unwrap().to_string();
        assert!(failure.contains("host far.example") || failure.contains("host b.example"), "{failure}");
        assert!(failure.contains("exit status: 255") && failure.contains("no route to"), "{failure}");
    }
}
