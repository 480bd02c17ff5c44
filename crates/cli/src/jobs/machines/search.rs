//! Machines that are searched for the ranks of a job.

use super::message::Introduction;
use super::other_machine::OtherMachine;
use evenkeel_node::RemoteShell;
use std::time::{Duration, Instant};

/// A machine that could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub host: String,
    /// Why, without a full stop.
    pub why: String,
    /// It was looked at, and its ranks have ended since.
    pub is_over: bool,
}

impl LeftOut {
    /// One that has not been looked at.
    pub fn new(host: &str, why: &str) -> LeftOut {
        LeftOut { host: host.into(), why: why.into(), is_over: false }
    }

    /// One that is still to be asked.
    pub fn unasked(host: &str) -> LeftOut {
        LeftOut::new(host, "it has not been asked yet")
    }
}

/// Machines that are to be found, through a remote shell. That may take some seconds.
pub struct Search {
    /// What they are called here.
    pub hosts: Vec<String>,
    /// The way there.
    pub shell: RemoteShell,
}

/// What a search has found.
pub struct Found {
    /// Machines that answer, with what they have told.
    pub machines: Vec<(OtherMachine, Introduction)>,
    /// Those that do not.
    pub left_out: Vec<LeftOut>,
}

impl Search {
    /// How long all machines may take together.
    const WHOLE: Duration = Duration::from_secs(20);
    /// More at once are refused by some sshd.
    pub const AT_ONCE: usize = 8;

    /// Starts a process on each host, and hears what each says.
    pub fn run(self) -> Found {
        let until = Instant::now() + Search::WHOLE;
        let mut found = Found { machines: Vec::new(), left_out: Vec::new() };
        for hosts in self.hosts.chunks(Search::AT_ONCE) {
            let start = |host: &String| match is_name(host) {
                false => Err(LeftOut::new(host, "this is no name of a host")),
                true if Instant::now() > until => Err(LeftOut::new(host, "other machines took all the time")),
                true => OtherMachine::start(host, &self.shell).map_err(|why| LeftOut::new(host, &why)),
            };
            let started: Vec<_> = hosts.iter().map(start).collect();
            for outcome in started {
                let introduced = outcome.and_then(|mut machine| match machine.introduction() {
                    Ok(told) => Ok((machine, told)),
                    Err(why) => Err(LeftOut::new(&machine.host, &why)),
                });
                match introduced {
                    Ok(machine) => found.machines.push(machine),
                    Err(machine) => found.left_out.push(machine),
                }
            }
        }
        found
    }
}

/// Whether a remote shell may get this as a host: no option, and nothing that a shell would take for more.
fn is_name(host: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@-".contains(&byte);
    !host.is_empty() && !host.starts_with('-') && host.bytes().all(is_usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(hosts: &[&str], shell: &str) -> Found {
        let hosts = hosts.iter().map(|host| host.to_string()).collect();
        Search { hosts, shell: RemoteShell::parse(shell).unwrap() }.run()
    }

    #[test]
    fn a_machine_that_cannot_be_reached_is_left_out_with_what_the_shell_said() {
        let hosts = ["far.example", "-oProxyCommand=x", "a;b"];
        let found = search(&hosts, "sh -c 'echo no route to $0 >&2; exit 255'");
        assert!(found.machines.is_empty());
        let why = |host: &str| found.left_out.iter().find(|it| it.host == host).unwrap().why.clone();
        let said = why("far.example");
        assert!(said.contains("exit status: 255), and said: no route to far.example"), "{said}");
        assert_eq!(why(hosts[1]), "this is no name of a host");
        assert_eq!(why(hosts[2]), "this is no name of a host");
    }

    #[test]
    fn a_machine_that_says_something_else_is_left_out() {
        let found = search(&["far.example"], "sh -c 'echo Welcome'");
        let why = &found.left_out[0].why;
        assert!(why.contains("something else answered: `Welcome`"), "{why}");
    }
}
