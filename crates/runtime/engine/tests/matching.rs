//! Compares the engine's matching with an oracle that applies MPI's rules literally: after each event it
//! checks all pairs of posted receives and unreceived messages.

use evenkeel_engine::message::matching::{Pattern, Queues};
use evenkeel_engine::message::visibility::QueryKind;

/// The oracle's rules. The tests leave one of them out at a time: the oracle must then differ from the
/// engine, otherwise the histories do not exercise the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    FirstPostedFirst,
    FirstSentFirst,
    HiddenFromAny,
    HiddenFromNamed,
}

/// The numbers of the first messages that are hidden. Messages carry rising numbers; those from
/// `incomplete` on were sent after a barrier that is not complete, those from `ahead` on after one that this
/// process has not entered.
#[derive(Clone, Copy, Debug, Default)]
struct Hidden {
    incomplete: u32,
    ahead: u32,
}

impl Hidden {
    fn may_see(&self, query: QueryKind, m: &Sent) -> bool {
        m.id < if query == QueryKind::Choose { self.incomplete } else { self.ahead }
    }
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
    fn pair(&mut self, hidden: Hidden, left_out: LeftOut) -> Option<(u32, u32)> {
        for (j, m) in self.messages.iter().enumerate() {
            for (i, (receive, p)) in self.posted.iter().enumerate() {
                let first_posted = !self.posted[..i].iter().any(|(_, q)| fits(q, m))
                    || left_out == LeftOut::FirstPostedFirst;
                let first_sent = !self.messages[..j].iter().any(|n| n.source == m.source && fits(p, n))
                    || left_out == LeftOut::FirstSentFirst;
                let visible = match p.source {
                    Some(_) => hidden.may_see(QueryKind::Wait, m) || left_out == LeftOut::HiddenFromNamed,
                    None => hidden.may_see(QueryKind::Choose, m) || left_out == LeftOut::HiddenFromAny,
                };
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

    fn probe(&self, p: &Pattern, hidden: Hidden) -> Option<u32> {
        let taken = |m: &Sent| self.posted.iter().any(|(_, q)| fits(q, m));
        let first =
            |j: usize, m: &Sent| !self.messages[..j].iter().any(|n| n.source == m.source && fits(p, n));
        self.messages
            .iter()
            .enumerate()
            .find(|(j, m)| fits(p, m) && first(*j, m) && !taken(m) && hidden.may_see(QueryKind::Choose, m))
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

/// One random history of the engine's queues and of the oracle.
struct History {
    random: Random,
    sources: usize,
    tags: usize,
    queues: Queues<u32, Sent>,
    oracle: Oracle,
    next: u32,
    hidden: Hidden,
}

impl History {
    fn new(seed: u64) -> History {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (sources, tags) = (1 + random.below(3), 1 + random.below(3));
        let (queues, oracle) = (Queues::default(), Oracle::default());
        History { random, sources, tags, queues, oracle, next: 0, hidden: Hidden::default() }
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
        let hidden = self.hidden;
        let mut pairs = Vec::new();
        match self.random.below(12) {
            0..4 => {
                let (source, tag) = (self.random.below(self.sources), self.random.below(self.tags) as i32);
                let m = Sent { id: self.next, source, tag };
                self.next += 1;
                self.oracle.messages.push(m);
                match self.queues.arrive(m.source, m.tag, |query| hidden.may_see(query, &m)) {
                    Some(receive) => pairs.push((receive, m.id)),
                    None => self.queues.keep(m.source, m.tag, m),
                }
            }
            4..7 => {
                self.oracle.posted.push((receive, a));
                if let Some((source, tag, m)) =
                    self.queues.post(a, receive, |query, m| hidden.may_see(query, m))
                {
                    assert_eq!((source, tag), (m.source, m.tag));
                    pairs.push((receive, m.id));
                }
            }
            7 => {
                self.hidden.incomplete += self.random.below(4) as u32;
                self.hidden.ahead = self.hidden.ahead.max(self.hidden.incomplete);
            }
            8 => self.hidden.ahead += self.random.below(4) as u32,
            9 if !self.oracle.posted.is_empty() => {
                // The oracle knows no early match: a receive that the program may not see complete can be
                // cancelled, and its message goes to another one.
                let (receive, _) = self.oracle.posted.remove(self.random.below(self.oracle.posted.len()));
                assert!(self.queues.cancel(receive) && !self.queues.cancel(receive));
            }
            10 => self.take_probed(&b)?,
            _ => self.probe(&b)?,
        }
        let hidden = self.hidden;
        while let Some((receive, source, tag, m)) = self.queues.settle(|query, m| hidden.may_see(query, m)) {
            assert_eq!((source, tag), (m.source, m.tag));
            pairs.push((receive, m.id));
        }
        pairs.sort();
        Ok(pairs)
    }

    fn probe(&self, pattern: &Pattern) -> Result<(), String> {
        let hidden = self.hidden;
        let seen = self.queues.probe(*pattern, |query, m| hidden.may_see(query, m));
        self.check_probe(pattern, seen.map(|(source, tag, m)| (source, tag, *m)))
    }

    /// A matched probe: the message is gone for all receives.
    fn take_probed(&mut self, pattern: &Pattern) -> Result<(), String> {
        let hidden = self.hidden;
        let taken = self.queues.take_probed(*pattern, |query, m| hidden.may_see(query, m));
        self.check_probe(pattern, taken)?;
        self.oracle.messages.retain(|m| taken.is_none_or(|(.., t)| t.id != m.id));
        Ok(())
    }

    fn check_probe(&self, pattern: &Pattern, seen: Option<(usize, i32, Sent)>) -> Result<(), String> {
        let seen = seen.map(|(source, tag, m)| {
            assert_eq!((source, tag), (m.source, m.tag));
            m.id
        });
        let is_right = seen == self.oracle.probe(pattern, self.hidden);
        if is_right { Ok(()) } else { Err(format!("probe {pattern:?} sees {seen:?}")) }
    }

    /// Compares the engine's pairs and what is left in its queues with the oracle.
    fn check(&mut self, pairs: &[(u32, u32)], left_out: LeftOut) -> Result<(), String> {
        let oracle = &mut self.oracle;
        let mut expected: Vec<_> = std::iter::from_fn(|| oracle.pair(self.hidden, left_out)).collect();
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
    for step in 0..80 {
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
    let rules = [
        LeftOut::FirstPostedFirst,
        LeftOut::FirstSentFirst,
        LeftOut::HiddenFromAny,
        LeftOut::HiddenFromNamed,
    ];
    for rule in rules {
        assert!((1..=2_000).any(|seed| history(seed, rule).is_err()), "{rule:?}");
    }
}
