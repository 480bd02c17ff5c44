//! Which rank of the job died first.
//!
//! When a rank has died, its launcher kills others, on all nodes, and evenkeel ends the rest. Only the
//! first death is to be announced. An agent that sees a rank of its node die, and knows of no other death,
//! tells all agents and waits for their answers. A death that an agent sees after it has been told of one
//! follows from that one. Two deaths that two agents have seen without knowing of each other are compared
//! by time; each of the two agents knows both when all have answered, because an agent tells of its own
//! deaths before it answers. So both come to the same verdict, which they tell the others.
//!
//! There is no deadline of its own: an agent is waited for until it answers or is lost, which
//! [`NodeLiveness`](crate::process::liveness::NodeLiveness) decides. On a machine that stands still for a
//! while, a deadline would end before agents could answer, and a rank would be named that died later.

use crate::message::Death;

/// What an agent knows of the deaths of its job.
#[derive(Debug)]
pub struct FirstDeath {
    /// The earliest death that is known.
    earliest: Option<Death>,
    /// Whether this agent has told of a death.
    has_told: bool,
    /// By node: its agent's answer is waited for, or its verdict if this agent has told of no death.
    awaited: Vec<bool>,
    is_settled: bool,
}

impl FirstDeath {
    /// No death is known.
    pub fn new(nodes: usize) -> FirstDeath {
        FirstDeath { earliest: None, has_told: false, awaited: vec![false; nodes], is_settled: false }
    }

    /// Whether any death is known.
    pub fn is_known(&self) -> bool {
        self.earliest.is_some()
    }

    /// Whether the verdict is still to come.
    pub fn is_pending(&self) -> bool {
        self.is_known() && !self.is_settled
    }

    /// The nodes whose agents are waited for.
    pub fn awaited(&self) -> impl Iterator<Item = usize> {
        let is_pending = self.is_pending();
        self.awaited
            .iter()
            .enumerate()
            .filter(move |(_, awaited)| is_pending && **awaited)
            .map(|(node, _)| node)
    }

    /// A rank of this node has died. Returns whether the agents of all other nodes that are left, `others`,
    /// must be told. If not, the death follows from another one.
    pub fn see(&mut self, death: Death, others: impl Iterator<Item = usize>) -> bool {
        if self.is_known() {
            return false;
        }
        self.earliest = Some(death);
        self.has_told = true;
        others.for_each(|node| self.awaited[node] = true);
        true
    }

    /// The agent of another node has told of a death. What this node's own ranks have met must have been seen
    /// before.
    pub fn hear(&mut self, from: usize, death: Death) {
        let key = |death: Death| (death.seen_ns, death.rank);
        if self.earliest.is_none_or(|earliest| key(death) < key(earliest)) {
            self.earliest = Some(death);
        }
        if !self.has_told {
            self.awaited[from] = true;
        }
    }

    /// A node's agent has answered, or can answer no more.
    pub fn answered(&mut self, node: usize) {
        self.awaited[node] = false;
    }

    /// Another agent has come to this verdict. Returns the rank unless there has been a verdict before.
    pub fn settle(&mut self, rank: u32) -> Option<u32> {
        self.earliest.get_or_insert(Death { rank, seen_ns: 0 });
        (!std::mem::replace(&mut self.is_settled, true)).then_some(rank)
    }

    /// The rank that died first, once: when no agent is waited for any more.
    pub fn verdict(&mut self) -> Option<u32> {
        if self.is_settled || self.awaited.contains(&true) {
            return None;
        }
        self.settle(self.earliest?.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents<const NODES: usize>() -> [FirstDeath; NODES] {
        std::array::from_fn(|_| FirstDeath::new(NODES))
    }

    fn sees(agent: &mut FirstDeath, death: Death, others: &[usize]) -> bool {
        agent.see(death, others.iter().copied())
    }

    #[test]
    fn a_death_that_an_agent_sees_after_it_was_told_of_one_is_not_announced() {
        let [mut first, mut second] = agents();
        let (died, killed) = (Death { rank: 3, seen_ns: 900 }, Death { rank: 0, seen_ns: 100 });
        assert!(sees(&mut first, died, &[1]));
        second.hear(0, died);
        assert!(!sees(&mut second, killed, &[0]), "whatever its clock says");
        assert_eq!(first.verdict(), None, "the other may have seen one earlier");
        first.answered(1);
        assert_eq!((first.verdict(), first.verdict()), (Some(3), None), "once");
        assert_eq!(second.verdict(), None, "it has told of none");
        assert_eq!((second.settle(3), second.settle(0)), (Some(3), None));
    }

    #[test]
    fn of_two_deaths_seen_at_once_both_agents_name_the_earlier() {
        for died_ns in [[5, 9], [9, 5], [7, 7]] {
            let [mut first, mut second] = agents();
            let deaths = [Death { rank: 6, seen_ns: died_ns[0] }, Death { rank: 2, seen_ns: died_ns[1] }];
            assert!(sees(&mut first, deaths[0], &[1]) && sees(&mut second, deaths[1], &[0]));
            first.hear(1, deaths[1]);
            first.answered(1);
            second.hear(0, deaths[0]);
            second.answered(0);
            let earlier = if died_ns[0] < died_ns[1] { 6 } else { 2 };
            assert_eq!((first.verdict(), second.verdict()), (Some(earlier), Some(earlier)));
        }
    }

    #[test]
    fn agents_are_waited_for_until_they_answer_or_are_lost() {
        let [mut first, mut second, _] = agents();
        let death = Death { rank: 1, seen_ns: 5 };
        assert_eq!(first.awaited().count(), 0);
        assert!(sees(&mut first, death, &[1, 2]));
        second.hear(0, death);
        first.answered(1);
        assert!(first.awaited().eq([2]) && second.awaited().eq([0]));
        assert_eq!((first.verdict(), second.verdict()), (None, None));
        assert!(first.is_pending());
        first.answered(2);
        second.answered(0);
        assert_eq!((first.verdict(), second.verdict()), (Some(1), Some(1)));
        assert!(!first.is_pending() && first.is_known());
    }
}
