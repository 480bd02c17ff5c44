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

/// Runs one random history. Messages carry rising numbers; those from `hidden_from` on were sent after a
/// barrier that is not complete.
fn history(seed: u64, left_out: LeftOut) -> Result<usize, String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut queues, mut oracle) = (Queues::<u32, Sent>::default(), Oracle::default());
    let (sources, tags) = (1 + random.below(3), 1 + random.below(3));
    let (mut next, mut hidden_from, mut pairs) = (0u32, 0u32, 0);
    for step in 0..60 {
        let mut pattern = || Pattern {
            source: (random.below(3) > 0).then(|| random.below(sources)),
            tag: (random.below(3) > 0).then(|| random.below(tags) as i32),
        };
        let (a, b) = (pattern(), pattern());
        let mut got = Vec::new();
        match random.below(10) {
            0..4 => {
                let m = Sent { id: next, source: random.below(sources), tag: random.below(tags) as i32 };
                next += 1;
                oracle.messages.push(m);
                match queues.arrive(m.source, m.tag, || m.id < hidden_from) {
                    Some(receive) => got.push((receive, m.id)),
                    None => queues.keep(m.source, m.tag, m),
                }
            }
            4..7 => {
                let receive = 1000 + step;
                oracle.posted.push((receive, a));
                if let Some((source, tag, m)) = queues.post(a, receive, |m| m.id < hidden_from) {
                    assert_eq!((source, tag), (m.source, m.tag));
                    got.push((receive, m.id));
                }
            }
            7 => hidden_from += random.below(4) as u32,
            8 if !oracle.posted.is_empty() => {
                let (receive, _) = oracle.posted.remove(random.below(oracle.posted.len()));
                assert!(queues.cancel(receive) && !queues.cancel(receive));
            }
            _ => {
                let seen = queues.probe(b, |m| m.id < hidden_from).map(|(source, tag, m)| {
                    assert_eq!((source, tag), (m.source, m.tag));
                    m.id
                });
                if seen != oracle.probe(&b, hidden_from) {
                    return Err(format!("step {step}: probe {b:?} sees {seen:?}"));
                }
            }
        }
        while let Some((receive, source, tag, m)) = queues.settle(|m| m.id < hidden_from) {
            assert_eq!((source, tag), (m.source, m.tag));
            got.push((receive, m.id));
        }
        let mut expected: Vec<_> = std::iter::from_fn(|| oracle.pair(hidden_from, left_out)).collect();
        got.sort();
        expected.sort();
        if got != expected {
            return Err(format!("step {step}: {got:?} are paired, should be {expected:?}"));
        }
        pairs += got.len();
        let (has_blocked, is_unposted) = (
            oracle.posted.iter().any(|(_, p)| oracle.messages.iter().any(|m| fits(p, m))),
            oracle.posted.is_empty(),
        );
        let found = (queues.has_blocked(), queues.is_unposted());
        if (has_blocked, is_unposted) != found {
            return Err(format!("step {step}: (has_blocked, is_unposted) is {found:?}"));
        }
    }
    assert_eq!(queues.drain().count(), oracle.messages.len());
    Ok(pairs)
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
