//! Whether agents reach each other when the job starts. Where they do not, because of a firewall or a wrong
//! address, the ranks do without agents, and the job goes on as if there were none.
//!
//! Each agent asks those 1, 2, 4, … nodes further for a sign of life, so that in a large job, too, each has
//! few to ask, and a network that lets nothing through is noticed by all.

use std::time::{Duration, Instant};

/// How long an agent waits for the others' answers.
const PATIENCE: Duration = Duration::from_secs(4);
/// Time counts only while the agent looks on: it may share a core with many ranks that start. It looks at
/// least this often.
const INTERVAL: Duration = Duration::from_millis(50);

/// The nodes whose answers are awaited.
#[derive(Debug)]
pub struct FirstContact {
    awaited: Vec<usize>,
    waited: Duration,
    seen_at: Instant,
    is_settled: bool,
}

/// What has come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All have answered.
    Reached,
    /// This node has not.
    Missed(usize),
}

impl FirstContact {
    /// Node `me` of so many is about to ask [`FirstContact::awaited`].
    pub fn new(me: usize, nodes: usize, now: Instant) -> FirstContact {
        let distances = (0..).map(|power| 1usize << power).take_while(|distance| *distance < nodes);
        let awaited = distances.map(|distance| (me + distance) % nodes).collect();
        FirstContact { awaited, waited: Duration::ZERO, seen_at: now, is_settled: false }
    }

    /// The nodes that have not answered.
    pub fn awaited(&self) -> &[usize] {
        &self.awaited
    }

    /// A node has given a sign of life.
    pub fn heard_from(&mut self, node: usize) {
        self.awaited.retain(|other| *other != node);
    }

    /// What has come of it, once; `lost`: a node that the network has given up.
    pub fn settle(&mut self, now: Instant, lost: Option<usize>) -> Option<Outcome> {
        if self.is_settled {
            return None;
        }
        let passed = now.duration_since(std::mem::replace(&mut self.seen_at, now));
        self.waited += passed.min(2 * INTERVAL);
        let outcome = match (self.awaited.first(), lost) {
            (None, _) => Outcome::Reached,
            (_, Some(node)) => Outcome::Missed(node),
            (Some(node), None) if self.waited >= PATIENCE => Outcome::Missed(*node),
            _ => return None,
        };
        self.is_settled = true;
        Some(outcome)
    }

    /// How long the agent may sleep until [`FirstContact::settle`] is called again.
    pub fn longest_sleep(&self) -> Option<Duration> {
        (!self.is_settled).then_some(INTERVAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_nodes_are_asked_by_someone_and_few_by_each() {
        let now = Instant::now();
        for nodes in [2usize, 3, 8, 1000] {
            let asked: Vec<Vec<usize>> =
                (0..nodes).map(|me| FirstContact::new(me, nodes, now).awaited().to_vec()).collect();
            let most = (nodes as f64).log2().ceil() as usize;
            assert!(asked.iter().enumerate().all(|(me, asked)| asked.len() == most && !asked.contains(&me)));
            assert!((0..nodes).all(|node| asked.iter().any(|asked| asked.contains(&node))));
        }
    }

    #[test]
    fn an_agent_that_got_no_core_has_not_waited() {
        let now = Instant::now();
        let mut contact = FirstContact::new(0, 2, now);
        assert_eq!(contact.settle(now + 100 * PATIENCE, None), None);
    }

    #[test]
    fn it_is_settled_once() {
        let now = Instant::now();
        let mut contact = FirstContact::new(0, 3, now);
        assert_eq!(contact.settle(now, None), None);
        contact.heard_from(1);
        contact.heard_from(2);
        assert_eq!(contact.settle(now + 2 * PATIENCE, Some(1)), Some(Outcome::Reached));
        assert_eq!((contact.settle(now, None), contact.longest_sleep()), (None, None));
        let mut contact = FirstContact::new(0, 3, now);
        contact.heard_from(1);
        assert_eq!(contact.longest_sleep(), Some(INTERVAL));
        let later = |times: u32| now + INTERVAL * times;
        let settles = (1..).find(|times| contact.settle(later(*times), None) == Some(Outcome::Missed(2)));
        assert_eq!(settles.map(later), Some(now + PATIENCE));
        assert_eq!(FirstContact::new(2, 3, now).settle(now, Some(0)), Some(Outcome::Missed(0)));
    }
}
