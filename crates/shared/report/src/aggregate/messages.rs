//! Sums up point-to-point messages: how many, how long ranks waited in them, and for which rank.

use super::saturating::{add, total};
use crate::digest::{MessagesDigest, RankDigest};
use evenkeel_record::RankRecord;

/// Sums up the messages of all ranks, and adds the waits in them to those of the ranks.
pub(super) fn messages(records: &[RankRecord], ranks: &mut [RankDigest]) -> MessagesDigest {
    let mut d = MessagesDigest::default();
    for (r, rank) in records.iter().zip(ranks.iter_mut()) {
        let waited = total(r.messages_waited_for.iter().map(|peer| peer.ns));
        add(&mut d.sent, r.messages);
        add(&mut d.bytes, r.message_bytes);
        add(&mut d.wait_ns, waited);
        add(&mut rank.wait_ns, waited);
        add(&mut rank.time_ns, waited);
    }
    for rank in ranks {
        let waits = records.iter().flat_map(|r| &r.messages_waited_for);
        let (times, ns) = waits
            .filter(|peer| peer.rank == rank.rank)
            .fold((0, 0), |(times, ns), peer| (peer.times.saturating_add(times), peer.ns.saturating_add(ns)));
        // A message is awaited by one rank only, so the waits add up.
        add(&mut rank.last, times);
        add(&mut rank.late_ns, ns);
    }
    d
}
