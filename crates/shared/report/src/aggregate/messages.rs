//! Sums up point-to-point messages: how many, how long ranks waited in them, and for which rank.

use super::saturating::{add, total};
use crate::digest::{MessagesDigest, PairDigest, RankDigest};
use evenkeel_record::RankRecord;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Sums up the messages of all ranks, and adds the waits in them to those of the ranks.
pub(super) fn messages(records: &[RankRecord], ranks: &mut [RankDigest]) -> MessagesDigest {
    let mut d = MessagesDigest { pairs: pairs(records), ..Default::default() };
    for (record, rank) in records.iter().zip(ranks.iter_mut()) {
        let sent = record.messages.saturating_add(record.host_messages);
        let bytes = record.message_bytes.saturating_add(record.host_message_bytes);
        // Older records have the waits by peer only.
        let waited = record.message_wait_ns.max(total(record.messages_waited_for.iter().map(|peer| peer.ns)));
        let time = record.message_time_ns.max(waited);
        add(&mut d.sent, sent);
        add(&mut d.host_sent, record.host_messages);
        add(&mut d.bytes, bytes);
        add(&mut d.time_ns, time);
        add(&mut d.wait_ns, waited);
        (rank.messages, rank.message_bytes, rank.message_time_ns) = (sent, bytes, time);
        add(&mut rank.wait_ns, waited);
        add(&mut rank.time_ns, time);
    }
    // As in collectives, a rank is as late as the rank that waited longest for it. Several may have waited
    // at once.
    let mut late: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for pair in &d.pairs {
        let (times, ns) = late.entry(pair.peer).or_default();
        (*times, *ns) = ((*times).max(pair.waits), (*ns).max(pair.wait_ns));
    }
    for rank in ranks {
        let (times, ns) = late.get(&rank.rank).copied().unwrap_or_default();
        add(&mut rank.last, times);
        add(&mut rank.late_ns, ns);
    }
    d
}

/// Which rank waited for which, and what was sent that way.
fn pairs(records: &[RankRecord]) -> Vec<PairDigest> {
    let mut pairs: BTreeMap<(u32, u32), PairDigest> = BTreeMap::new();
    let mut pair = |rank, peer, times, ns, messages, bytes| {
        let pair = pairs.entry((rank, peer)).or_insert(PairDigest { rank, peer, ..Default::default() });
        add(&mut pair.waits, times);
        add(&mut pair.wait_ns, ns);
        add(&mut pair.messages, messages);
        add(&mut pair.bytes, bytes);
    };
    for record in records {
        for peer in &record.messages_waited_for {
            pair(record.rank, peer.rank, peer.times, peer.ns, 0, 0);
        }
        for peer in &record.messages_sent_to {
            pair(peer.rank, record.rank, 0, 0, peer.messages, peer.bytes);
        }
    }
    let mut pairs: Vec<PairDigest> = pairs.into_values().collect();
    pairs.sort_by_key(|pair| Reverse((pair.wait_ns, pair.bytes, pair.messages)));
    pairs
}
