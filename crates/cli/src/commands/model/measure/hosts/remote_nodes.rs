//! All nodes of a measurement: started, made known to each other, given passes, and noticed when one has
//! ended.

use super::super::pass_times::PassTimes;
use super::introduction::{NodeIntroduction, NodeReady, NodeSetup};
use super::node_pass::{NodePass, NodePassError, PATIENCE};
use super::start::Start;
use crate::errors::MeasurementError;
use crate::hosts::host_process::{self, HostProcess, NotStarted};
use crate::machine::worker::{self, WorkerOutput};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a host may take until its process has written a line.
const START: Duration = Duration::from_secs(30);

/// All nodes. They end with it.
pub struct RemoteNodes {
    nodes: Vec<HostProcess>,
    output: Receiver<(usize, WorkerOutput)>,
    /// In the order of hosts.
    pub introductions: Vec<NodeIntroduction>,
    /// The core that each node was to be held on.
    pub cores: Vec<usize>,
    /// Why a node could not be held on its core, if so.
    pub unpinned: Option<String>,
}

impl RemoteNodes {
    /// Starts a process on each host, and makes them known to each other.
    pub fn start(hosts: &[String], start: &Start) -> Result<RemoteNodes, MeasurementError> {
        let (sender, output) = channel();
        let mut all = RemoteNodes {
            nodes: Vec::new(),
            output,
            introductions: Vec::new(),
            cores: Vec::new(),
            unpinned: None,
        };
        for (node, host) in hosts.iter().enumerate() {
            let process = HostProcess::start(node, host, &start.shell, &start.words, sender.clone());
            all.nodes.push(process.map_err(|NotStarted { why, line }| MeasurementError::HostNotStarted {
                host: host.clone(),
                why,
                line,
            })?);
        }
        all.introductions = all.line_of_each::<NodeIntroduction>()?;
        all.check_versions()?;
        check_that_hosts_differ(&all.introductions, hosts)?;
        all.cores = assign_cores(&all.introductions);
        let addresses: Vec<Vec<u8>> =
            all.introductions.iter().map(|introduction| introduction.address.clone()).collect();
        for node in 0..all.nodes.len() {
            let setup = NodeSetup { node, core: all.cores[node], addresses: addresses.clone() };
            all.send(node, &setup)?;
        }
        let ready = all.line_of_each::<NodeReady>()?;
        all.unpinned = ready.into_iter().find_map(|ready| ready.unpinned);
        Ok(all)
    }

    /// Whether node 0 and so many peers share cores.
    pub fn share_cores(&self, peers: usize) -> bool {
        have_too_few_cores(&self.introductions[..=peers])
    }

    /// One pass.
    pub fn run(&mut self, pass: &NodePass) -> Result<PassTimes, MeasurementError> {
        self.send(0, pass)?;
        let longest = PATIENCE * 3 + Duration::from_micros(pass.enough_us);
        let (_, line) = self.next_line(longest, |all| all.silent(&[0]))?;
        let outcome: Result<PassTimes, NodePassError> = self.parse(0, &line)?;
        outcome.map_err(|error| match error {
            NodePassError::Silent(nodes) => self.silent(&nodes),
            NodePassError::WrongContent(node) => lost(
                &self.nodes[node],
                "what it got, or what came from it, was not what had been sent".into(),
            ),
            NodePassError::Lost(node, why) => {
                self.ended(node, &format!("the network gave up the connection to it ({why})"))
            }
        })
    }

    fn check_versions(&self) -> Result<(), MeasurementError> {
        for (introduction, node) in self.introductions.iter().zip(&self.nodes) {
            host_process::check_version(&introduction.version).map_err(|why| not_started(node, why))?;
        }
        Ok(())
    }

    /// One line of each node.
    fn line_of_each<T: for<'a> Deserialize<'a>>(&mut self) -> Result<Vec<T>, MeasurementError> {
        let mut answers: Vec<Option<T>> = self.nodes.iter().map(|_| None).collect();
        let until = Instant::now() + START;
        while let Some(missing) = answers.iter().position(Option::is_none) {
            let left = until.saturating_duration_since(Instant::now());
            let silent = |all: &mut RemoteNodes| {
                let why = format!("nothing was heard from there within {} s", START.as_secs());
                not_started(&all.nodes[missing], why)
            };
            let (node, line) = self.next_line(left, silent)?;
            answers[node] = Some(self.parse(node, &line)?);
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// The next line of any node. The end of a node ends the measurement.
    fn next_line(
        &mut self,
        longest: Duration,
        silent: impl FnOnce(&mut RemoteNodes) -> MeasurementError,
    ) -> Result<(usize, String), MeasurementError> {
        match self.output.recv_timeout(longest) {
            Ok((node, WorkerOutput::Line(line))) => Ok((node, line)),
            Ok((node, WorkerOutput::End)) => Err(self.ended(node, "it has closed its output")),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(silent(self)),
        }
    }

    fn parse<T: for<'a> Deserialize<'a>>(&mut self, node: usize, line: &str) -> Result<T, MeasurementError> {
        host_process::parse(line).map_err(|why| not_started(&self.nodes[node], why))
    }

    fn send(&mut self, node: usize, value: &impl Serialize) -> Result<(), MeasurementError> {
        let line = serde_json::to_string(value).expect("it consists of plain data");
        match worker::send_line(&mut self.nodes[node].process, &line) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.ended(node, "it has closed its input")),
        }
    }

    /// The error for a node that is lost: how its process has ended, or else what was noticed.
    fn ended(&mut self, node: usize, noticed: &str) -> MeasurementError {
        let had_begun = !self.introductions.is_empty();
        let node = &mut self.nodes[node];
        let why = node.end().unwrap_or_else(|| noticed.to_string());
        if had_begun { lost(node, why) } else { not_started(node, why) }
    }

    /// The error for nodes that do not answer: one of them may have ended.
    fn silent(&mut self, nodes: &[usize]) -> MeasurementError {
        for node in nodes {
            if let Some(why) = self.nodes[*node].end() {
                return lost(&self.nodes[*node], why);
            }
        }
        let hosts: Vec<&str> = nodes.iter().map(|node| self.nodes[*node].host.as_str()).collect();
        MeasurementError::HostLost {
            host: hosts.join(", "),
            why: format!("it has not answered for {} s", PATIENCE.as_secs()),
        }
    }
}

impl Drop for RemoteNodes {
    fn drop(&mut self) {
        host_process::end_all(&mut self.nodes); // ends their measurement
    }
}

/// The error for a process that has not begun to work.
fn not_started(node: &HostProcess, why: String) -> MeasurementError {
    MeasurementError::HostNotStarted { host: node.host.clone(), why, line: node.line.clone() }
}

/// The error for a process that was at work.
fn lost(node: &HostProcess, why: String) -> MeasurementError {
    MeasurementError::HostLost { host: node.host.clone(), why }
}

/// Two names of one host would measure memory, not a network.
fn check_that_hosts_differ(
    introductions: &[NodeIntroduction],
    hosts: &[String],
) -> Result<(), MeasurementError> {
    let mut seen = HashMap::new();
    for (introduction, host) in introductions.iter().zip(hosts) {
        if let Some(other) = seen.insert((&introduction.boot, &introduction.host), host) {
            let name = &introduction.host;
            let why = format!("{other} and {host} are the same host, which calls itself {name}");
            return Err(MeasurementError::Hosts { given: hosts.join(","), why });
        }
    }
    Ok(())
}

/// A core for each node. Hosts that are one machine get different cores as long as there are some.
fn assign_cores(introductions: &[NodeIntroduction]) -> Vec<usize> {
    let mut assigned: HashMap<&str, usize> = HashMap::new();
    let mut cores = Vec::new();
    for NodeIntroduction { boot, usable_cores, .. } in introductions {
        let turn = assigned.entry(boot).or_default();
        cores.push(usable_cores.get(*turn % usable_cores.len().max(1)).copied().unwrap_or(0));
        *turn += 1;
    }
    cores
}

/// Whether a machine has more of these nodes than cores.
fn have_too_few_cores(introductions: &[NodeIntroduction]) -> bool {
    let mut nodes: HashMap<&str, usize> = HashMap::new();
    introductions.iter().any(|introduction| {
        let nodes = nodes.entry(&introduction.boot).or_default();
        *nodes += 1;
        *nodes > introduction.usable_cores.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_node::RemoteShell;

    fn introduction(host: &str, boot: &str, usable_cores: &[usize]) -> NodeIntroduction {
        NodeIntroduction {
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
        let real =
            [introduction("a", "1", &[4, 5]), introduction("b", "2", &[0]), introduction("c", "3", &[7])];
        assert_eq!((assign_cores(&real), have_too_few_cores(&real)), (vec![4, 0, 7], false));
        let virtual_ = ["a", "b", "c"].map(|name| introduction(name, "1", &[4, 5]));
        assert_eq!(assign_cores(&virtual_), [4, 5, 4]);
        assert!(have_too_few_cores(&virtual_) && !have_too_few_cores(&virtual_[..2]));
        let hosts = ["a", "b", "c"].map(String::from);
        assert!(check_that_hosts_differ(&virtual_, &hosts).is_ok());
        assert!(check_that_hosts_differ(&real, &hosts).is_ok());
        let twice = ["a", "b", "a"].map(|name| introduction(name, "1", &[0]));
        let error = check_that_hosts_differ(&twice, &hosts).unwrap_err().to_string();
        assert!(error.contains("a and c are the same host"), "{error}");
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_named_with_what_the_shell_said() {
        let shell = RemoteShell::parse("sh -c 'echo no route to $0 >&2; exit 255'").unwrap();
        let command = Start { shell, words: vec!["x".into()] };
        let hosts = ["far.example".into(), "b.example".into()];
        let error = RemoteNodes::start(&hosts, &command).err().unwrap().to_string();
        assert!(error.contains("host far.example") || error.contains("host b.example"), "{error}");
        assert!(error.contains("exit status: 255") && error.contains("no route to"), "{error}");
    }
}
