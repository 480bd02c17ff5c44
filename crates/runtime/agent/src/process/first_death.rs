//! Which rank of the job died first.
//!
//! When a rank has died, its launcher kills others, on all nodes, and evenkeel ends the rest. Only the
//! first death is to be announced. An agent that sees a rank of its node die, and knows of no other death,
//! tells all agents and waits for their answers. A death that an agent sees after it has been told of one
//! follows from that one. Two deaths that two agents have seen without knowing of each other are compared
//! by time; each of the two agents knows both when all have answered, because an agent tells of its own
//! deaths before it answers. So both come to the same verdict, which they tell the others.

use crate::message::Death;
use std::time::{Duration, Instant};

/// What an agent knows of the deaths of its job.
#[derive(Debug)]
pub struct FirstDeath {
    /// How long answers are waited for.
    longest: Duration,
    /// The earliest death that is known.
    earliest: Option<Death>,
    /// When this agent learned of the first one.
    since: Option<Instant>,
    /// The death that this agent has told of.
    own: Option<u32>,
    /// By node: its agent may still tell of an earlier death.
    unanswered: Vec<bool>,
    is_settled: bool,
}

impl FirstDeath {
    /// No death is known.
    pub fn new(nodes: usize, longest: Duration) -> FirstDeath {
        FirstDeath {
            longest,
            earliest: None,
            since: None,
            own: None,
            unanswered: vec![false; nodes],
            is_settled: false,
        }
    }

    /// Whether any death is known.
    pub fn is_known(&self) -> bool {
        self.earliest.is_some()
    }

    /// Whether the verdict is still to come.
    pub fn is_pending(&self) -> bool {
        self.is_known() && !self.is_settled
    }

    /// A rank of this node has died. Returns whether all other agents, `others`, must be told. If not, the
    /// death follows from another one.
    pub fn see(&mut self, death: Death, others: impl Iterator<Item = usize>, now: Instant) -> bool {
        if self.is_known() {
            return false;
        }
        self.consider(death, now);
        self.own = Some(death.rank);
        others.for_each(|node| self.unanswered[node] = true);
        true
    }

    /// Another agent has told of a death. What this node's own ranks have met must have been seen before.
    pub fn hear(&mut self, death: Death, now: Instant) {
        self.consider(death, now);
    }

    fn consider(&mut self, death: Death, now: Instant) {
        self.since.get_or_insert(now);
        let key = |death: Death| (death.seen_ns, death.rank);
        if self.earliest.is_none_or(|earliest| key(death) < key(earliest)) {
            self.earliest = Some(death);
        }
    }

    /// A node's agent has answered, or can answer no more.
    pub fn answered(&mut self, node: usize) {
        self.unanswered[node] = false;
    }

    /// Another agent has come to this verdict. Returns the rank unless there has been a verdict before.
    pub fn settle(&mut self, rank: u32, now: Instant) -> Option<u32> {
        self.since.get_or_insert(now);
        self.earliest.get_or_insert(Death { rank, seen_ns: 0 });
        (!std::mem::replace(&mut self.is_settled, true)).then_some(rank)
    }

    /// The rank that died first, once: when this agent has told of a death and all have answered, or when
    /// they had time enough.
    pub fn verdict(&mut self, now: Instant) -> Option<u32> {
        let (earliest, since) = (self.earliest?, self.since?);
        let has_answers = self.own.is_some() && !self.unanswered.contains(&true);
        if self.is_settled || !(has_answers || now.duration_since(since) >= self.longest) {
            return None;
        }
        self.settle(earliest.rank, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_millis(500);

    fn agents(nodes: usize) -> Vec<FirstDeath> {
        (0..nodes).map(|_| FirstDeath::new(nodes, LONGEST)).collect()
    }

    fn sees(agent: &mut FirstDeath, death: Death, others: &[usize], now: Instant) -> bool {
        agent.see(death, others.iter().copied(), now)
    }

    #[test]
    fn a_death_that_an_agent_sees_after_it_was_told_of_one_is_not_announced() {
        let now = Instant::now();
        let [mut first, mut second] = <[_; 2]>::try_from(agents(2)).unwrap();
        let (died, killed) = (Death { rank: 3, seen_ns: 900 }, Death { rank: 0, seen_ns: 100 });
        assert!(sees(&mut first, died, &[1], now));
        second.hear(died, now);
        assert!(!sees(&mut second, killed, &[0], now), "whatever its clock says");
        assert_eq!(first.verdict(now), None, "the other may have seen one earlier");
        first.answered(1);
        assert_eq!((first.verdict(now), first.verdict(now)), (Some(3), None), "once");
        assert_eq!((second.settle(3, now), second.settle(0, now)), (Some(3), None));
    }

    #[test]
    fn of_two_deaths_seen_at_once_both_agents_name_the_earlier() {
        let now = Instant::now();
        for died_ns in [[5, 9], [9, 5], [7, 7]] {
            let [mut first, mut second] = <[_; 2]>::try_from(agents(2)).unwrap();
            let deaths = [Death { rank: 6, seen_ns: died_ns[0] }, Death { rank: 2, seen_ns: died_ns[1] }];
            assert!(sees(&mut first, deaths[0], &[1], now) && sees(&mut second, deaths[1], &[0], now));
            first.hear(deaths[1], now);
            first.answered(1);
            second.hear(deaths[0], now);
            second.answered(0);
            let earlier = if died_ns[0] < died_ns[1] { 6 } else { 2 };
            assert_eq!((first.verdict(now), second.verdict(now)), (Some(earlier), Some(earlier)));
        }
    }

    #[test]
    fn an_agent_that_does_not_answer_is_not_waited_for_long() {
        let now = Instant::now();
        let [mut first, mut second, _] = <[_; 3]>::try_from(agents(3)).unwrap();
        let death = Death { rank: 1, seen_ns: 5 };
        assert!(sees(&mut first, death, &[1, 2], now));
        first.answered(1);
        second.hear(death, now);
        let soon = now + LONGEST - Duration::from_millis(1);
        assert_eq!((first.verdict(soon), second.verdict(soon)), (None, None));
        assert!(first.is_pending());
        let late = now + LONGEST;
        assert_eq!((first.verdict(late), second.verdict(late)), (Some(1), Some(1)));
        assert!(!first.is_pending() && first.is_known());
    }
}
