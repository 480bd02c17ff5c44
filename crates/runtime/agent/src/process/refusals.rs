//! Tells the user of connections that are none of the job, without letting their number fill a log.

use evenkeel_fabric::tls::RefusedConnections;
use std::time::{Duration, Instant};

/// How long after a sentence the next one comes at the earliest.
const INTERVAL: Duration = Duration::from_secs(60);
/// How many sentences an agent says.
const MAX_SENTENCES: u32 = 10;

/// What the user has been told.
#[derive(Debug, Default)]
pub struct Refusals {
    told: u64,
    sentences: u32,
    last: Option<Instant>,
}

impl Refusals {
    /// The sentence that is due now, if one is.
    pub fn sentence(&mut self, refused: &RefusedConnections, host: &str, now: Instant) -> Option<String> {
        let new = refused.count - self.told;
        let is_due = self.last.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if new == 0 || !is_due || self.sentences == MAX_SENTENCES {
            return None;
        }
        self.told = refused.count;
        self.sentences += 1;
        self.last = Some(now);
        let connections = if new == 1 { "a connection" } else { &format!("{new} connections, the last") };
        let from = refused.last_from.map_or("an unknown address".into(), |from| from.to_string());
        let reason = refused.last_reason;
        Some(format!("the agent on {host} has refused {connections} from {from}: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_connections_make_few_sentences() {
        let from = Some("10.0.0.9:1234".parse().unwrap());
        let refused = |count| RefusedConnections { count, last_from: from, last_reason: "it is none" };
        let (mut refusals, start) = (Refusals::default(), Instant::now());
        assert_eq!(refusals.sentence(&refused(0), "h1", start), None);
        let first = "the agent on h1 has refused a connection from 10.0.0.9:1234: it is none";
        assert_eq!(refusals.sentence(&refused(1), "h1", start).as_deref(), Some(first));
        let sentences: Vec<String> = (1..100_000u64)
            .filter_map(|ms| {
                refusals.sentence(&refused(1 + ms), "h1", start + Duration::from_millis(ms * 100))
            })
            .collect();
        assert_eq!(sentences.len(), 9);
        assert!(sentences[0].contains("has refused 600 connections, the last from"), "{}", sentences[0]);
    }
}
