//! All machines of a job: those of its ranks that can be reached.

use super::message::{JobHead, Looked, Request, Seen, Stacks};
use super::other_machine::{ANSWER, OtherMachine};
use super::search::{Found, LeftOut, Search};
use super::ways::Ways;
use crate::errors::JobError;
use crate::jobs::discovery::{self, Job};
use crate::jobs::findings::Finding;
use crate::jobs::observation::{self, BETWEEN_LOOKS, FirstLook, Observation, Standing};
use crate::jobs::stacks::{self, StackChoice, TakenStacks};
use crate::machine::system;
use std::time::{Duration, Instant};

/// Why a machine is not asked any more.
enum Loss {
    /// Its ranks have ended.
    Over,
    /// Something failed.
    Failed(String),
}

impl From<String> for Loss {
    fn from(why: String) -> Loss {
        Loss::Failed(why)
    }
}

/// How `evenkeel where` finds a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobAddress {
    /// A rank on this machine, or the job's number where its ranks are.
    pub process: u32,
    /// The machines to name; none: it has ranks on this one.
    pub hosts: Vec<String>,
}

/// A job, on all machines that can be reached.
pub struct WholeJob {
    /// What is said about it.
    pub head: JobHead,
    here: Option<Job>,
    others: Vec<OtherMachine>,
    left_out: Vec<LeftOut>,
    /// Processor time of the latest observation on the machine where it took most, without this one.
    cpu_elsewhere: Duration,
}

impl WholeJob {
    /// The job that a person means: see [`discovery::job_named`]. If hosts are named, it may be on these
    /// only.
    pub fn open(wanted: Option<u32>, ways: &Ways) -> Result<WholeJob, JobError> {
        if ways.hosts.is_empty() {
            return WholeJob::of(discovery::job_named(wanted)?, ways);
        }
        let here = discovery::job_named(wanted);
        let shell = ways.shell(here.as_ref().ok())?;
        let me = system::host_name();
        let hosts = ways.hosts.iter().filter(|host| **host != me).cloned().collect();
        let found = Search { hosts, shell }.run();
        let (head, here) = match here {
            Ok(job) => (JobHead::of(&job), Some(job)),
            Err(refusal) => {
                let head = head_elsewhere(wanted, &found, refusal)?;
                let mut jobs = discovery::jobs().jobs.into_iter();
                let here = jobs.find(|job| head.number.is_some() && job.number() == head.number);
                (head, here)
            }
        };
        let mut whole = WholeJob::new(head, here);
        whole.take(found);
        Ok(whole)
    }

    /// A job that has ranks here, with the machines of its other ranks.
    pub fn of(job: Job, ways: &Ways) -> Result<WholeJob, JobError> {
        let mut whole = WholeJob::here(job);
        if let Some(search) = whole.search(ways)? {
            whole.take(search.run());
        }
        Ok(whole)
    }

    /// The part of a job that is on this machine. Its other machines are left out, for now.
    pub fn here(job: Job) -> WholeJob {
        let mut whole = WholeJob::new(JobHead::of(&job), Some(job));
        let mut hosts = whole.head.hosts.clone();
        let me = system::host_name();
        if let Some(at) = hosts.iter().position(|host| *host == me) {
            hosts.remove(at);
        }
        whole.left_out = hosts.iter().map(|host| LeftOut::unasked(host)).collect();
        whole
    }

    /// What finds the job of an `evenkeel run` on this machine that has no ranks here: one machine with ranks
    /// is enough, since these tell the others. The `turn`-th search (0, 1, …) asks the next few machines.
    /// None if no other machine is named.
    pub fn search_elsewhere(ways: &Ways, turn: u32) -> Result<Option<Search>, JobError> {
        let me = system::host_name();
        let others: Vec<String> = ways.hosts.iter().filter(|host| **host != me).cloned().collect();
        let parts: Vec<&[String]> = others.chunks(Search::AT_ONCE).collect();
        if parts.is_empty() {
            return Ok(None);
        }
        let hosts = parts[turn as usize % parts.len()].to_vec();
        Ok(Some(Search { hosts, shell: ways.shell(None)? }))
    }

    /// The job of an `evenkeel run`, as [`discovery::RUN`] names it, among what a search has found.
    pub fn elsewhere(run: &str, found: Found) -> Option<WholeJob> {
        let heads = found.machines.iter().flat_map(|(_, told)| &told.jobs);
        let mut of_run = heads.filter(|head| head.number.is_some() && head.run.as_deref() == Some(run));
        let mut whole = WholeJob::new(of_run.next()?.clone(), None);
        let mut missing = whole.head.hosts.clone();
        for (machine, told) in found.machines {
            if told.jobs.iter().any(|job| job.number == whole.head.number) {
                missing.retain(|host| *host != told.host);
                whole.others.push(machine);
            }
        }
        whole.left_out = missing.iter().map(|host| LeftOut::unasked(host)).collect();
        Some(whole)
    }

    fn new(head: JobHead, here: Option<Job>) -> WholeJob {
        let cpu_elsewhere = Duration::ZERO;
        WholeJob { head, here, others: Vec::new(), left_out: Vec::new(), cpu_elsewhere }
    }

    /// What finds the machines that are left out and may be found; None if there are none.
    pub fn search(&mut self, ways: &Ways) -> Result<Option<Search>, JobError> {
        // A job without ranks here has told the name of a run of ours.
        let may_follow = self.here.as_ref().is_none_or(|here| ways.follows(here));
        let me = system::host_name();
        let mut hosts = Vec::new();
        for machine in &mut self.left_out {
            if !may_follow {
                machine.why =
                    "the job belongs to another user; name the way there with --remote-shell".into();
            } else if machine.host == me {
                machine.why = "this machine has the same name".into();
            } else if !machine.is_over {
                hosts.push(machine.host.clone());
            }
        }
        Ok(if hosts.is_empty() {
            None
        } else {
            Some(Search { hosts, shell: ways.shell(self.here.as_ref())? })
        })
    }

    /// Takes the machines in that a search has found.
    pub fn take(&mut self, found: Found) {
        let asked = found.machines.iter().map(|(machine, _)| &machine.host);
        let asked: Vec<String> = asked.chain(found.left_out.iter().map(|it| &it.host)).cloned().collect();
        self.left_out.retain(|machine| !asked.contains(&machine.host));
        self.left_out.extend(found.left_out);
        for (machine, told) in found.machines {
            let has_it = told.jobs.iter().any(|job| job.number.is_some() && job.number == self.head.number);
            if has_it {
                self.others.push(machine);
            } else {
                let why = told.refused.into_iter().next();
                let why = why.unwrap_or("the job has no ranks there that can be looked at".into());
                self.left_out.push(LeftOut::new(&machine.host, why.trim_end_matches('.')));
            }
        }
    }

    /// Machines that have not been looked at.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// See the field.
    pub fn cpu_elsewhere(&self) -> Duration {
        self.cpu_elsewhere
    }

    /// How `evenkeel where` finds it.
    pub fn address(&self) -> JobAddress {
        match self.here.as_ref().and_then(Job::lowest) {
            Some(process) => JobAddress { process, hosts: Vec::new() },
            None => {
                let others = self.others.iter().map(|machine| &machine.host);
                let hosts = others.chain(self.left_out.iter().map(|machine| &machine.host)).cloned();
                JobAddress { process: self.head.id, hosts: hosts.collect() }
            }
        }
    }

    /// Whether no rank is on this machine, and some machine still answers.
    pub fn is_elsewhere(&self) -> bool {
        self.here.is_none() && !self.others.is_empty()
    }

    /// The same job on this machine, found again: processes end, and others take their numbers.
    pub fn renew(&mut self, job: Job) {
        let me = system::host_name();
        if self.here.is_none() {
            self.left_out.retain(|machine| machine.host != me);
        }
        self.here = Some(job);
    }

    /// Looks at all ranks.
    pub fn observe(&mut self) -> Observation {
        let first = self.first_look();
        std::thread::sleep(BETWEEN_LOOKS);
        self.second_look(first)
    }

    /// The first look, on all machines. The second one should come [`BETWEEN_LOOKS`] later.
    pub fn first_look(&mut self) -> Option<FirstLook> {
        let number = self.head.number.unwrap_or_default();
        self.each(|machine| Ok(machine.ask(&Request::FirstLook(number))?));
        let until = Instant::now() + ANSWER;
        let first = self.here.as_ref().map(FirstLook::take);
        self.each(|machine| match machine.answer::<Looked>(until)?.is_there {
            true => Ok(()),
            false => Err(Loss::Over),
        });
        first
    }

    /// The second look, on all machines.
    pub fn second_look(&mut self, first: Option<FirstLook>) -> Observation {
        self.each(|machine| Ok(machine.ask(&Request::SecondLook)?));
        let until = Instant::now() + ANSWER;
        let here = self.here.as_ref().zip(first).map(|(job, first)| observation::second_look(job, first));
        let mut parts: Vec<(String, Observation)> =
            here.map(|seen| (system::host_name(), seen)).into_iter().collect();
        let mut cpu_seconds = 0.0_f64;
        self.each(|machine| {
            let seen: Seen = machine.answer(until)?;
            cpu_seconds = cpu_seconds.max(seen.cpu_seconds);
            parts.push((machine.host.clone(), seen.observation));
            Ok(())
        });
        self.cpu_elsewhere = Duration::from_secs_f64(cpu_seconds.max(0.0));
        merge(parts, self.head.ranks_in_all)
    }

    /// The call stacks of ranks, as of the latest observation.
    pub fn stacks(&mut self, seen: &Observation, found: &[Finding], choice: StackChoice) -> TakenStacks {
        let has_here = self.here.is_some();
        stacks::take(seen, found, choice, |host, views| {
            if has_here && host == 0 {
                return stacks::of_ranks(views.iter().copied());
            }
            let ranks: Vec<u32> = views.iter().map(|view| view.rank).collect();
            let name = &seen.hosts[host];
            let mut stacks: Stacks = Vec::new();
            self.each(|machine| {
                if machine.host == *name {
                    machine.ask(&Request::Stacks(ranks.clone()))?;
                    stacks = machine.answer(Instant::now() + ANSWER)?;
                }
                Ok(())
            });
            stacks
        })
    }

    /// Does something with each machine. One with which it fails is left out from then on.
    fn each(&mut self, mut step: impl FnMut(&mut OtherMachine) -> Result<(), Loss>) {
        let left_out = &mut self.left_out;
        self.others.retain_mut(|machine| match step(machine) {
            Ok(()) => true,
            Err(loss) => {
                let (why, is_over) = match loss {
                    Loss::Over => ("its ranks have ended".into(), true),
                    Loss::Failed(why) => (why, false),
                };
                left_out.push(LeftOut { host: machine.host.clone(), why, is_over });
                false
            }
        });
    }
}

/// The job that is meant, if it has no ranks here.
fn head_elsewhere(wanted: Option<u32>, found: &Found, refusal: JobError) -> Result<JobHead, JobError> {
    let heads = found.machines.iter().flat_map(|(_, told)| &told.jobs);
    let mut meant: Vec<JobHead> =
        heads.filter(|head| wanted.is_none_or(|wanted| head.id == wanted)).cloned().collect();
    meant.sort_by_key(|head| head.number);
    meant.dedup_by_key(|head| head.number);
    match (meant.len(), found.left_out.first()) {
        (1, _) => Ok(meant.remove(0)),
        (0, None) => Err(refusal),
        (0, Some(LeftOut { host, why, .. })) => {
            Err(JobError::Unreached { host: host.clone(), why: why.clone() })
        }
        _ => Err(JobError::Several { jobs: meant.into_iter().map(|head| (head.id, head.program)).collect() }),
    }
}

/// What was seen on all machines. Two machines that answer for the same rank are one.
fn merge(parts: Vec<(String, Observation)>, ranks_in_all: usize) -> Observation {
    let mut whole = Observation { hosts: Vec::new(), ranks: Vec::new(), ranks_in_all };
    for (host, (name, part)) in parts.into_iter().enumerate() {
        whole.hosts.push(name);
        for mut view in part.ranks {
            view.host = host;
            let call = match &mut view.standing {
                Standing::Waiting(call) | Standing::GoingOn(Some(call)) => Some(call),
                Standing::Exited { .. } | Standing::Outside | Standing::GoingOn(None) => None,
            };
            if let Some(wait) = call.and_then(|call| call.collective.as_mut()) {
                wait.instance.host = host;
            }
            whole.ranks.push(view);
        }
    }
    whole.ranks.sort_by_key(|view| view.rank); // stable: the first machine's view comes first
    whole.ranks.dedup_by_key(|view| view.rank);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::observation::RankView;
    use crate::jobs::rank::{Call, CollectiveWait, Instance, Peer, Tag};

    fn part(host: &str, ranks: Vec<RankView>) -> (String, Observation) {
        (host.into(), Observation { hosts: vec![host.into()], ranks, ranks_in_all: 4 })
    }

    #[test]
    fn ranks_of_several_machines_are_put_in_order_and_keep_their_machines() {
        let instance = Instance { host: 0, block: 4096, number: 3 };
        let wait =
            CollectiveWait { instance, missing: None, ordinal: None, seconds: 1.0, spans_nodes: false };
        let call = Call {
            name: "MPI_Barrier".into(),
            communicator: None,
            peer: Peer::None,
            tag: Tag::None,
            collective: Some(wait),
            host_collective: None,
        };
        let whole = merge(
            vec![
                part(
                    "a",
                    vec![
                        RankView::example(0, Standing::Waiting(call.clone())),
                        RankView::example(2, Standing::Outside),
                    ],
                ),
                part(
                    "b",
                    vec![
                        RankView::example(1, Standing::Waiting(call)),
                        RankView::example(2, Standing::GoingOn(None)),
                    ],
                ),
            ],
            4,
        );
        let seen: Vec<_> = whole.ranks.iter().map(|view| (view.rank, view.host)).collect();
        assert_eq!((seen.as_slice(), whole.hosts.len()), (&[(0, 0), (1, 1), (2, 0)][..], 2));
        assert!(!whole.is_whole(), "one rank was not seen");
        let instance =
            |rank: usize| whole.ranks[rank].waits_in().unwrap().collective.as_ref().unwrap().instance;
        assert_ne!(instance(0), instance(1), "blocks of different segments are different communicators");
    }
}
