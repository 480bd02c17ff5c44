//! A receive from any source could have taken another message: one that was sent without knowing that the
//! receive was complete.
//!
//! Each rank counts its steps, and knows of each other rank the last step that can have had an effect on it
//! (vector time: Mattern, "Virtual time and global states of distributed systems", 1989). A message that was
//! sent without knowledge of the receive's completion could have come before it.

use crate::finding::{Finding, Rule, Severity};
use crate::history::{Awaited, CallIndex};
use crate::replay::{Question, Replay};
use crate::run::Run;
use std::collections::HashMap;

const CLAUSE: &str = "MPI 5.0, 3.5 Semantics of Point-to-Point Communication (fairness, order)";

/// A run with more sends times ranks is not looked at: it would take too much memory.
const MOST_NUMBERS: usize = 1 << 28;

/// What senders knew of their receivers: by rank and send, the receiver's last call that they knew of.
struct Knowledge {
    of_dest: Vec<Vec<CallIndex>>,
}

/// Looks at receives from any source. Returns false if the run has too many messages.
pub fn check(run: &Run, findings: &mut Vec<Finding>) -> bool {
    let is_wild = run.ranks.iter().any(|h| h.receives.iter().any(|receive| receive.any_source));
    if !run.is_ordered || !is_wild {
        return true;
    }
    let sends: usize = run.ranks.iter().map(|history| history.sends.len()).sum();
    if sends.saturating_mul(run.ranks.len()) > MOST_NUMBERS {
        return false;
    }
    let Some(knowledge) = knowledge(run) else { return true };
    for (rank, history) in (0..).zip(&run.ranks) {
        let messages = Messages::of(run, rank);
        for (number, receive) in (0..).zip(&history.receives) {
            let (Some(completed), true) = (receive.completed, receive.any_source) else { continue };
            if receive.is_ignored || run.is_vague_receive(rank, number) {
                continue;
            }
            let tag = receive.tag.filter(|_| !receive.any_tag);
            let Some((other, send)) = messages.rival(run, &knowledge, number, completed, tag) else {
                continue;
            };
            let sent = &run.ranks[other as usize].sends[send as usize];
            let sentence = format!(
                "{{0}} receives from any source, and has taken a message of rank {}. It could have taken the \
                 one that {{1}} has sent: nothing orders the two. If the order matters, name the source.",
                receive.source.unwrap_or(0)
            );
            let places = vec![run.place(rank, receive.call), run.place(other, sent.call)];
            let severity = Severity::Note;
            findings.push(Finding { rule: Rule::Race, severity, places, sentence, clause: CLAUSE, more: 0 });
        }
    }
    true
}

/// The messages to a rank, by communicator and sender, in the order of sending.
struct Messages {
    by_sender: HashMap<(u32, u32), Vec<u32>>,
}

impl Messages {
    fn of(run: &Run, rank: u32) -> Messages {
        let mut by_sender: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        for (sender, history) in (0..).zip(&run.ranks) {
            for (number, send) in (0..).zip(&history.sends) {
                if send.dest == rank && !send.is_cancelled {
                    let comm = run.communicators.number(sender, send.comm);
                    by_sender.entry((comm, sender)).or_default().push(number);
                }
            }
        }
        Messages { by_sender }
    }

    /// A message of another sender that the receive could have taken.
    fn rival(
        &self,
        run: &Run,
        knowledge: &Knowledge,
        receive: u32,
        completed: CallIndex,
        tag: Option<i32>,
    ) -> Option<(u32, u32)> {
        let rank = self.rank(run)?;
        let of = &run.ranks[rank as usize].receives[receive as usize];
        let comm = run.communicators.number(rank, of.comm);
        let mut senders: Vec<_> = self.by_sender.keys().filter(|(on, _)| *on == comm).collect();
        senders.sort_unstable();
        for &&(_, sender) in senders.iter().filter(|(_, sender)| Some(*sender) != of.source) {
            let sends = &self.by_sender[&(comm, sender)];
            let history = &run.ranks[sender as usize];
            // Those that were taken before are in front; a sender's knowledge only grows.
            let is_left = |&&send: &&u32| {
                let fits = tag.is_none_or(|tag| history.sends[send as usize].tag == tag);
                fits && run.receive_of(sender, send).is_none_or(|(_, taken)| taken > receive)
            };
            let from = sends.partition_point(|&send| {
                run.receive_of(sender, send).is_some_and(|(_, taken)| taken < receive) && tag.is_none()
            });
            let Some(&send) = sends[from..].iter().find(is_left) else { continue };
            let taken = run.receive_of(sender, send);
            let is_judged = taken.is_some() || run.is_whole(rank);
            if is_judged && knowledge.of_dest[sender as usize][send as usize] < completed {
                return Some((sender, send));
            }
        }
        None
    }

    fn rank(&self, run: &Run) -> Option<u32> {
        let (&(_, sender), sends) = self.by_sender.iter().next()?;
        Some(run.ranks[sender as usize].sends[sends[0] as usize].dest)
    }
}

/// `None`: the run's calls do not tell the order.
fn knowledge(run: &Run) -> Option<Knowledge> {
    let ranks = run.ranks.len();
    let mut times = vec![vec![0_u32; ranks]; ranks];
    // Of messages that are under way.
    let mut sent: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    let mut of_dest: Vec<Vec<CallIndex>> = run.ranks.iter().map(|h| vec![u32::MAX; h.sends.len()]).collect();
    let mut next_send = vec![0_usize; ranks];
    let mut entered: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    let (standstill, _) = Replay::new(run, Question::Causes).run(|_, rank, step| {
        let history = &run.ranks[rank as usize];
        let of = &history.steps[step];
        send_before(run, rank, of.call, &mut next_send, &times, &mut sent, &mut of_dest);
        for &awaited in &of.awaited {
            match awaited {
                Awaited::Receive(_) | Awaited::Probe(_) => {
                    let Some(receive) = history.awaited_receive(awaited) else { continue };
                    if history.receives[receive as usize].completed != Some(of.call) {
                        continue;
                    }
                    if let Some(known) = run.send_of(rank, receive).and_then(|of| sent.remove(&of)) {
                        join(&mut times[rank as usize], &known);
                    }
                }
                Awaited::Collective(number) => {
                    // As if it had kept all members until the last one came.
                    let one = &history.collectives[number as usize];
                    let key = (run.communicators.number(rank, one.comm), one.nth);
                    let known = entered.entry(key).or_insert_with(|| {
                        let mut all = vec![0; ranks];
                        for &(member, _) in run.communicators.members(key.0) {
                            join(&mut all, &times[member as usize]);
                        }
                        all
                    });
                    join(&mut times[rank as usize], known);
                }
                Awaited::Send(_) => {}
            }
        }
        times[rank as usize][rank as usize] = of.call + 1;
    });
    let is_whole = run.ranks.iter().zip(&standstill.at).all(|(history, &at)| at == history.steps.len());
    for rank in 0..ranks as u32 {
        send_before(run, rank, CallIndex::MAX, &mut next_send, &times, &mut sent, &mut of_dest);
    }
    is_whole.then_some(Knowledge { of_dest })
}

/// The sends of a rank up to this call know what the rank knows.
fn send_before(
    run: &Run,
    rank: u32,
    call: CallIndex,
    next: &mut [usize],
    times: &[Vec<u32>],
    sent: &mut HashMap<(u32, u32), Vec<u32>>,
    of_dest: &mut [Vec<CallIndex>],
) {
    let history = &run.ranks[rank as usize];
    let next = &mut next[rank as usize];
    while let Some(send) = history.sends.get(*next).filter(|send| send.call <= call) {
        let time = &times[rank as usize];
        of_dest[rank as usize][*next] = time.get(send.dest as usize).copied().unwrap_or(u32::MAX);
        if run.receive_of(rank, *next as u32).is_some() {
            sent.insert((rank, *next as u32), time.clone());
        }
        *next += 1;
    }
}

fn join(one: &mut [u32], other: &[u32]) {
    one.iter_mut().zip(other).for_each(|(one, other)| *one = (*one).max(*other));
}
