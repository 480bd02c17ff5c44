//! Compares the engine's matching with an oracle that applies MPI's rules literally: after each event it
//! checks all pairs of posted receives and unreceived messages.

use evenkeel_engine::message::matching::{Pattern, Queues};

/// The oracle's rules. The tests leave one of them out at a time: the oracle must then differ from the
/// engine, otherwise the histories do not exercise the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    FirstPostedFirst,
    FirstSentFirst,
    HiddenFromAny,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    id: u32,
    source: usize,
    tag: i32,
}

#[derive(Default)]
struct Oracle {
    posted: Vec<(u32, Pattern)>,
    messages: Vec<Sent>,
}

fn fits(p: &Pattern, m: &Sent) -> bool {
    p.source.is_none_or(|s| s == m.source) && p.tag.is_none_or(|t| t == m.tag)
}

impl Oracle {
    /// Pairs the oldest message that may be received with its receive.
    fn pair(&mut self, hidden_from: u32, left_out: LeftOut) -> Option<(u32, u32)> {
        for (j, m) in self.messages.iter().enumerate() {
            for (i, (receive, p)) in self.posted.iter().enumerate() {
                let first_posted = !self.posted[..i].iter().any(|(_, q)| fits(q, m))
                    || left_out == LeftOut::FirstPostedFirst;
                let first_sent = !self.messages[..j].iter().any(|n| n.source == m.source && fits(p, n))
                    || left_out == LeftOut::FirstSentFirst;
                let visible = p.source.is_some() || m.id < hidden_from || left_out == LeftOut::HiddenFromAny;
                if fits(p, m) && first_posted && first_sent && visible {
                    let pair = (*receive, m.id);
                    self.posted.remove(i);
                    self.messages.remove(j);
                    return Some(pair);
                }
            }
        }
        None
    }

    fn probe(&self, p: &Pattern, hidden_from: u32) -> Option<u32> {
        let taken = |m: &Sent| self.posted.iter().any(|(_, q)| fits(q, m));
        let first =
            |j: usize, m: &Sent| !self.messages[..j].iter().any(|n| n.source == m.source && fits(p, n));
        self.messages
            .iter()
            .enumerate()
            .find(|(j, m)| fits(p, m) && first(*j, m) && !taken(m) && m.id < hidden_from)
            .map(|(_, m)| m.id)
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }
}

/// One random history of the engine's queues and of the oracle. Messages carry rising numbers; those from
/// `hidden_from` on were sent after a barrier that is not complete.
struct History {
    random: Random,
    sources: usize,
    tags: usize,
    queues: Queues<u32, Sent>,
    oracle: Oracle,
    next: u32,
    hidden_from: u32,
}

impl History {
    fn new(seed: u64) -> History {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (sources, tags) = (1 + random.below(3), 1 + random.below(3));
        let (queues, oracle) = (Queues::default(), Oracle::default());
        History { random, sources, tags, queues, oracle, next: 0, hidden_from: 0 }
    }

    fn pattern(&mut self) -> Pattern {
        Pattern {
            source: (self.random.below(3) > 0).then(|| self.random.below(self.sources)),
            tag: (self.random.below(3) > 0).then(|| self.random.below(self.tags) as i32),
        }
    }

    /// Makes a random event happen. `receive` is the number of a receive that may be posted. Returns the
    /// pairs that the engine makes.
    fn event(&mut self, receive: u32) -> Result<Vec<(u32, u32)>, String> {
        let (a, b) = (self.pattern(), self.pattern());
        let hidden_from = self.hidden_from;
        let is_visible = |m: &Sent| m.id < hidden_from;
        let mut pairs = Vec::new();
        match self.random.below(10) {
            0..4 => {
                let (source, tag) = (self.random.below(self.sources), self.random.below(self.tags) as i32);
                let m = Sent { id: self.next, source, tag };
                self.next += 1;
                self.oracle.messages.push(m);
                match self.queues.arrive(m.source, m.tag, || is_visible(&m)) {
                    Some(receive) => pairs.push((receive, m.id)),
                    None => self.queues.keep(m.source, m.tag, m),
                }
            }
            4..7 => {
                self.oracle.posted.push((receive, a));
                if let Some((source, tag, m)) = self.queues.post(a, receive, is_visible) {
                    assert_eq!((source, tag), (m.source, m.tag));
                    pairs.push((receive, m.id));
                }
            }
            7 => self.hidden_from += self.random.below(4) as u32,
            8 if !self.oracle.posted.is_empty() => {
                let (receive, _) = self.oracle.posted.remove(self.random.below(self.oracle.posted.len()));
                assert!(self.queues.cancel(receive) && !self.queues.cancel(receive));
            }
            _ => self.probe(&b)?,
        }
        let hidden_from = self.hidden_from;
        while let Some((receive, source, tag, m)) = self.queues.settle(|m| m.id < hidden_from) {
            assert_eq!((source, tag), (m.source, m.tag));
            pairs.push((receive, m.id));
        }
        pairs.sort();
        Ok(pairs)
    }

    fn probe(&self, pattern: &Pattern) -> Result<(), String> {
        let seen = self.queues.probe(*pattern, |m| m.id < self.hidden_from).map(|(source, tag, m)| {
            assert_eq!((source, tag), (m.source, m.tag));
            m.id
        });
        let is_right = seen == self.oracle.probe(pattern, self.hidden_from);
        if is_right { Ok(()) } else { Err(format!("probe {pattern:?} sees {seen:?}")) }
    }

    /// Compares the engine's pairs and what is left in its queues with the oracle.
    fn check(&mut self, pairs: &[(u32, u32)], left_out: LeftOut) -> Result<(), String> {
        let oracle = &mut self.oracle;
        let mut expected: Vec<_> = std::iter::from_fn(|| oracle.pair(self.hidden_from, left_out)).collect();
        expected.sort();
        if pairs != expected {
            return Err(format!("{pairs:?} are paired, should be {expected:?}"));
        }
        let (has_blocked, is_unposted) = (
            oracle.posted.iter().any(|(_, p)| oracle.messages.iter().any(|m| fits(p, m))),
            oracle.posted.is_empty(),
        );
        let found = (self.queues.has_blocked(), self.queues.is_unposted());
        if (has_blocked, is_unposted) != found {
            return Err(format!("(has_blocked, is_unposted) is {found:?}"));
        }
        Ok(())
    }
}

/// Runs one random history. Returns how many pairs were made.
fn history(seed: u64, left_out: LeftOut) -> Result<usize, String> {
    let mut history = History::new(seed);
    let mut count = 0;
    for step in 0..60 {
        let pairs = history.event(1000 + step).map_err(|e| format!("step {step}: {e}"))?;
        history.check(&pairs, left_out).map_err(|e| format!("step {step}: {e}"))?;
        count += pairs.len();
    }
    assert_eq!(history.queues.drain().count(), history.oracle.messages.len());
    Ok(count)
}

#[test]
fn receives_get_what_mpi_says() {
    let pairs: usize = (1..=5_000)
        .map(|seed| history(seed, LeftOut::Nothing).unwrap_or_else(|e| panic!("seed {seed}: {e}")))
        .sum();
    assert!(pairs > 40_000, "only {pairs} pairs: the histories test little");
}

#[test]
fn each_rule_makes_a_difference() {
    for rule in [LeftOut::FirstPostedFirst, LeftOut::FirstSentFirst, LeftOut::HiddenFromAny] {
        assert!((1..=2_000).any(|seed| history(seed, rule).is_err()), "{rule:?}");
    }
}
