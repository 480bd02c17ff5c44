//! The digest of records that are small enough to check by hand.

use evenkeel_record::{CommRecord, OpRecord, PeerRecord, RankRecord, RunRecord, Timeline, TrafficRecord};
use evenkeel_report::{Digest, digest, summary};

fn run(ranks: Vec<RankRecord>) -> Digest {
    digest(&RunRecord { ranks, ..Default::default() })
}

fn comm(id: &str, members: &[u32], ops: Vec<OpRecord>) -> CommRecord {
    CommRecord { id: id.into(), members: members.to_vec(), ops, segment_bytes: 640, ..Default::default() }
}

fn op(name: &str, calls: u64, wait_ns: u64, last: u64) -> OpRecord {
    OpRecord {
        op: name.into(),
        calls,
        wait_ns,
        last,
        late_ns: 10 * last,
        time_ns: 2 * wait_ns,
        ..Default::default()
    }
}

fn rank(rank: u32, comms: Vec<CommRecord>) -> RankRecord {
    RankRecord { rank, elapsed_ns: 1_000, comms, ..Default::default() }
}

#[test]
fn operations_add_up_over_ranks_and_communicators() {
    let d = run(vec![
        rank(
            0,
            vec![
                comm("1", &[0, 1, 2], vec![op("barrier", 5, 50, 5)]),
                comm("2", &[0, 1], vec![op("barrier", 2, 7, 0)]),
            ],
        ),
        rank(
            1,
            vec![
                comm("1", &[0, 1, 2], vec![op("barrier", 5, 40, 0)]),
                comm("2", &[0, 1], vec![op("barrier", 2, 3, 2)]),
            ],
        ),
        rank(2, vec![comm("1", &[0, 1, 2], vec![op("barrier", 5, 30, 0), op("reduce", 9, 400, 0)])]),
    ]);
    assert_eq!((d.rank_time_ns, d.wait_ns, d.calls), (3_000, 530, 28));
    assert_eq!(d.instances, 5 + 2 + 9);
    // The operation with the most waiting comes first.
    assert_eq!(d.ops.iter().map(|o| o.op.as_str()).collect::<Vec<_>>(), ["reduce", "barrier"]);
    let barrier = &d.ops[1];
    assert_eq!((barrier.calls, barrier.instances, barrier.callers), (19, 7, 3));
    assert_eq!((barrier.wait_ns, barrier.last, barrier.late_ns), (130, 7, 70));
    assert_eq!(barrier.mean_ns, Some(2 * 130 / 19));
    assert_eq!(barrier.median_ns, None, "nothing was sampled");
    assert_eq!(d.comm_ops.iter().filter(|o| o.op == "barrier").count(), 2);
    assert_eq!((d.segment_bytes, d.segment_bytes_per_member), (2 * 640, 320));
    assert_eq!(d.ranks[1].last, 2);
}

#[test]
fn communicators_with_the_same_id_and_different_members_are_kept_apart() {
    let d = run(vec![
        rank(0, vec![comm("1", &[0], vec![op("barrier", 1, 0, 0)])]),
        rank(1, vec![comm("1", &[1], vec![op("barrier", 1, 0, 0)])]),
    ]);
    assert_eq!(d.comms.len(), 2);
}

#[test]
fn of_too_many_communicators_those_with_the_most_waiting_stay() {
    let comms = (0..10).map(|i| comm(&i.to_string(), &[0], vec![op("barrier", 1, [5, 90, 80, 1][i % 4], 0)]));
    let d = run(vec![rank(0, comms.collect())]);
    assert_eq!(d.clone().shortened(10), d);
    let kept = d.clone().shortened(3);
    assert_eq!(kept.comms.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["1", "5", "9"]);
    assert_eq!((kept.comms_left_out, kept.comm_ops.len()), (7, 3));
    assert!(kept.comm_ops.iter().all(|o| kept.comms[o.comm.unwrap()].wait_ns == o.wait_ns));
    assert_eq!((kept.ops, kept.wait_ns), (d.ops, d.wait_ns), "sums are over all");
}

#[test]
fn a_rank_is_named_only_if_chance_does_not_explain_how_often_it_is_last() {
    let times_last = |counts: &[u64]| {
        let members: Vec<u32> = (0..counts.len() as u32).collect();
        let ranks = counts
            .iter()
            .zip(0..)
            .map(|(n, r)| rank(r, vec![comm("1", &members, vec![op("barrier", 100, 0, *n)])]));
        run(ranks.collect()).ops[0].last_most.map(|l| (l.rank, l.times))
    };
    assert_eq!(times_last(&[25, 25, 25, 25]), None);
    assert_eq!(times_last(&[20, 30, 25, 25]), None, "chance explains five more");
    assert_eq!(times_last(&[10, 60, 15, 15]), Some((1, 60)));
    assert_eq!(times_last(&[1, 0]), None, "once is chance");
    assert_eq!(times_last(&[100_000, 100_900]), None, "significant, but too small a difference to matter");
    assert_eq!(times_last(&[50]), None, "there is no other rank");
    assert_eq!(times_last(&[0, 0]), None);
}

#[test]
fn messages_add_up_by_pair_of_ranks() {
    let peer = |rank, times, ns| PeerRecord { rank, times, ns };
    let d = run(vec![
        RankRecord {
            messages_waited_for: vec![peer(1, 3, 60), peer(2, 5, 900)],
            message_wait_ns: 1_000, // 40 of it for a rank that is not known
            message_time_ns: 1_200,
            host_messages: 2,
            host_message_bytes: 70,
            messages_sent_to: vec![TrafficRecord { rank: 1, messages: 2, bytes: 70 }],
            ..rank(0, vec![])
        },
        RankRecord {
            messages_waited_for: vec![peer(2, 4, 700)],
            messages: 1,
            message_bytes: 8,
            messages_sent_to: vec![TrafficRecord { rank: 0, messages: 1, bytes: 8 }],
            ..rank(1, vec![])
        },
        rank(2, vec![]),
    ]);
    let m = &d.messages;
    assert_eq!((m.sent, m.host_sent, m.bytes), (3, 2, 78));
    assert_eq!((m.time_ns, m.wait_ns), (1_200 + 700, 1_000 + 700), "older records have no time");
    let pairs: Vec<_> = m.pairs.iter().map(|p| (p.rank, p.peer, p.waits, p.wait_ns, p.bytes)).collect();
    assert_eq!(pairs, [(0, 2, 5, 900, 0), (1, 2, 4, 700, 0), (0, 1, 3, 60, 8), (1, 0, 0, 0, 70)]);
    let late: Vec<_> = d.ranks.iter().map(|r| (r.last, r.late_ns)).collect();
    assert_eq!(late, [(0, 0), (3, 60), (5, 900)], "as late as the rank that waited longest");
    assert_eq!((d.ranks[0].wait_ns, d.ranks[0].messages, d.wait_ns), (1_000, 2, 1_700));
    let short = d.clone().shortened(1);
    assert_eq!((short.messages.pairs.len(), short.messages.pairs_left_out), (1, 3));
}

/// In a ring a rank that waits is as late for the next one.
#[test]
fn the_rank_that_a_chain_of_waits_begins_with_is_the_latest() {
    let waiting = |r: u32, ns| RankRecord {
        messages_waited_for: vec![PeerRecord { rank: (r + 3) % 4, times: 10, ns }],
        ..rank(r, vec![])
    };
    let ring = vec![waiting(0, 290), waiting(1, 300), waiting(2, 10), waiting(3, 295)];
    assert_eq!(run(ring.clone()).latest, Some(2), "others waited longer for rank 0");
    let summary = summary(&RunRecord { ranks: ring, ..Default::default() }, 160, false);
    assert!(summary.contains("Rank 2 delayed the others most: 295 ns in 10 calls."), "{summary}");
    assert_eq!(run(vec![waiting(0, 0), waiting(1, 0)]).latest, None);
}

#[test]
fn timelines_with_different_slices_are_brought_to_the_longest() {
    let line = |slice_ns, wait_ns: &[u64]| RankRecord {
        elapsed_ns: 350,
        timeline: Timeline { slice_ns, wait_ns: wait_ns.to_vec() },
        ..Default::default()
    };
    let d = run(vec![line(100, &[10, 20, 30, 25]), line(200, &[100, 150]), line(0, &[])]);
    assert_eq!(d.timeline.slice_ns, 200);
    // The second slice ends with the run, after 150 ns.
    assert_eq!(d.timeline.share, vec![vec![1_500, 3_667], vec![5_000, 10_000], vec![]]);
}

#[test]
fn equal_notes_of_ranks_are_merged() {
    let with = |rank, notes: &[&str]| RankRecord {
        rank,
        notes: notes.iter().map(|n| n.to_string()).collect(),
        ..Default::default()
    };
    let d = run(vec![with(0, &["a", "b", "b"]), with(1, &["b"]), with(2, &[])]);
    let merged: Vec<_> = d.notes.iter().map(|n| (n.text.as_str(), n.ranks.as_slice())).collect();
    assert_eq!(merged, [("a", &[0][..]), ("b", &[0, 1][..])]);
}

#[test]
fn deferred_barriers_add_up() {
    let barrier = |deferred, ahead, overlapped_ns| OpRecord {
        deferred,
        ahead,
        overlapped_ns,
        ..op("barrier", 9, 0, 0)
    };
    let seen = |observers: &[(&str, u64)]| observers.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    let strict = "barriers of this program are strict: it has started threads";
    let d = run(vec![
        RankRecord {
            observers: seen(&[("write()", 2), ("window full", 1), ("a collective", 0)]),
            notes: vec!["cores are shared".into(), strict.into()],
            ..rank(
                0,
                vec![comm("1", &[0, 1], vec![barrier(8, 3, 40)]), comm("2", &[0], vec![barrier(7, 64, 0)])],
            )
        },
        RankRecord {
            observers: seen(&[("window full", 5), ("write()", 4)]),
            ..rank(1, vec![comm("1", &[0, 1], vec![barrier(1, 1, 2), op("ibarrier", 5, 0, 0)])])
        },
    ]);
    let b = &d.deferral;
    assert_eq!(
        (b.barriers, b.deferred, b.ahead, b.overlapped_ns),
        (27, 16, 64, 42),
        "nonblocking barriers are none of these"
    );
    let observers: Vec<_> = b.observers.iter().map(|o| (o.name.as_str(), o.times, o.ranks)).collect();
    assert_eq!(observers, [("window full", 6, 2), ("write()", 6, 2)], "most often first, then by name");
    assert_eq!(b.strict, [d.notes[1].clone()]);
    assert_eq!(
        d.comm_ops.iter().filter(|o| o.op == "barrier").map(|o| o.deferred).collect::<Vec<_>>(),
        [9, 7]
    );
    assert_eq!(run(vec![rank(0, vec![])]).deferral, Default::default());
}
