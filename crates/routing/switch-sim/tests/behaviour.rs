//! What must come out, by closed forms and by rules that hold for every network.

use evenkeel_route::{EndNodeId, SwitchId};
use evenkeel_switch_sim::*;

/// Posts what it is given at the times it is given, and notes when things arrive.
struct Script {
    posts: Vec<(u64, Post)>,
    next: usize,
    arrived: Vec<(u64, u64)>,
}

impl Script {
    fn new(posts: Vec<(u64, Post)>) -> Script {
        Script { posts, next: 0, arrived: Vec::new() }
    }
}

impl Workload for Script {
    fn next(&self) -> u64 {
        self.posts.get(self.next).map_or(u64::MAX, |p| p.0)
    }
    fn act(&mut self, now: u64, posts: &mut Vec<Post>) {
        while let Some((_, post)) = self.posts.get(self.next).filter(|p| p.0 <= now) {
            posts.push(*post);
            self.next += 1;
        }
    }
    fn delivered(&mut self, now: u64, packet: &Packet, _: &mut Vec<Post>) {
        self.arrived.push((packet.tag, now));
    }
}

fn post(source: u32, destination: u32, phits: u32, tag: u64) -> Post {
    Post { source: EndNodeId(source), destination: EndNodeId(destination), phits, tag }
}

/// Switches in a line, each with a host of its own number.
fn line(switches: u32) -> (Wiring, TableRouting) {
    let links = (0..switches - 1).map(|s| (SwitchId(s), SwitchId(s + 1))).collect();
    let wiring = Wiring::new(switches, links, (0..switches).map(SwitchId).collect());
    let mut table = TableRouting::new(switches, switches);
    for at in 0..switches {
        for to in (0..switches).filter(|to| *to != at) {
            let channel = if to > at { ChannelId(2 * at) } else { ChannelId(2 * (at - 1) + 1) };
            table.set(SwitchId(at), to, Lane { channel, lane: 0 });
        }
    }
    (wiring, table)
}

/// Switches in a ring, everything clockwise: the textbook's cycle of channels. With `dateline`, packets
/// change to lane 1 where the ring closes.
fn ring(switches: u32, dateline: bool) -> (Wiring, TableRouting) {
    let links = (0..switches).map(|s| (SwitchId(s), SwitchId((s + 1) % switches))).collect();
    let wiring = Wiring::new(switches, links, (0..switches).map(SwitchId).collect());
    let mut table = TableRouting::new(switches, switches);
    for at in 0..switches {
        for to in (0..switches).filter(|to| *to != at) {
            // A packet to a lower number has yet to pass the place where the ring closes.
            let lane = u8::from(dateline && to > at);
            table.set(SwitchId(at), to, Lane { channel: ChannelId(2 * at), lane });
        }
    }
    (wiring, table)
}

fn uniform(load: f64, phits: u32, seed: u64) -> Traffic {
    Traffic { pattern: Pattern::Uniform, length: Length::Fixed(phits), load, copies: 1, seed }
}

#[test]
fn an_empty_network_takes_what_the_parts_take() {
    let (wiring, table) = line(5);
    for (parameters, expected) in [
        // The head takes a cycle on each channel and 23 in each switch; the tail follows.
        (Parameters::MYRINET, 1 + 5 * 24 + 31),
        (Parameters { header_cycles: 3, link_cycles: 7, ..Parameters::MYRINET }, 7 + 5 * 10 + 31),
        (Parameters::CUT_THROUGH, 1 + 5 * 2 + 31),
        // Every switch takes in the whole packet first.
        (Parameters { switching: Switching::StoreAndForward, ..Parameters::CUT_THROUGH }, 32 + 5 * (1 + 32)),
    ] {
        let mut simulator = Simulator::new(&wiring, parameters, table.clone()).unwrap();
        let mut script = Script::new(vec![(10, post(0, 4, 32, 1)), (10_000, post(4, 0, 32, 2))]);
        assert!(simulator.finish(100_000, &mut script).unwrap());
        assert_eq!(script.arrived, [(1, 10 + expected), (2, 10_000 + expected)], "{parameters:?}");
        assert_eq!(simulator.moved().iter().sum::<u64>(), 2 * 32 * 6);
    }
}

#[test]
fn a_channel_carries_one_phit_a_cycle_or_one_a_period() {
    let (wiring, table) = line(2);
    for period in [1, 3] {
        // Packets are given the channel one after the other, each after its head has been looked at: with one
        // lane that shows.
        let parameters = Parameters { header_cycles: 0, arbiter_cycles: 0, ..Parameters::CUT_THROUGH };
        let mut simulator = Simulator::new(&wiring, parameters, table.clone()).unwrap();
        simulator.set_period(ChannelId(0), period);
        let mut script = Script::new((0..500).map(|i| (0, post(0, 1, 64, i))).collect());
        assert!(simulator.finish(1_000_000, &mut script).unwrap());
        let (first, last) = (script.arrived[0].1, script.arrived[499].1);
        let cycles = (last - first) as f64 / (499.0 * 64.0);
        assert!((cycles - f64::from(period)).abs() < 0.04 * f64::from(period), "{cycles}");
        assert!(script.arrived.windows(2).all(|w| w[0].0 < w[1].0), "packets of a pair stay in order");
    }
}

#[test]
fn lanes_share_a_channel_fairly() {
    // Hosts 0 and 1 at switch 0 send over one link to hosts 2 and 3, each on a lane of its own: both get
    // half.
    let s = SwitchId;
    let wiring = Wiring::new(2, vec![(s(0), s(1))], vec![s(0), s(0), s(1), s(1)]);
    let mut table = TableRouting::new(2, 4);
    for (to, lane) in [(2, 0), (3, 1)] {
        table.set(s(0), to, Lane { channel: ChannelId(0), lane });
    }
    let parameters = Parameters { lanes: 2, buffer_phits: 8, ..Parameters::MYRINET };
    let mut simulator = Simulator::new(&wiring, parameters, table).unwrap();
    let mut script = Script::new(vec![(0, post(0, 2, 10_000, 0)), (0, post(1, 3, 10_000, 1))]);
    assert!(simulator.finish(100_000, &mut script).unwrap());
    let times: Vec<u64> = script.arrived.iter().map(|a| a.1).collect();
    assert!(times.iter().all(|t| (19_990..20_100).contains(t)), "{times:?}");
}

#[test]
fn tables_with_a_cycle_deadlock_and_the_circle_is_named() {
    for switching in [Switching::Wormhole, Switching::CutThrough, Switching::StoreAndForward] {
        let (wiring, table) = ring(5, false);
        let parameters = Parameters { switching, lanes: 2, buffer_phits: 32, ..Parameters::MYRINET };
        let mut simulator = Simulator::new(&wiring, parameters, table).unwrap();
        let mut traffic = OpenLoop::new(uniform(0.8, 32, 1), &wiring);
        let Err(Halt::Deadlock(found)) = simulator.run(1_000_000, &mut traffic) else {
            panic!("{switching:?} did not deadlock")
        };
        assert_eq!(found.circle.len(), 5, "{found}");
        for (i, lane) in found.circle.iter().enumerate() {
            assert_eq!(wiring.to(lane.channel), wiring.from(found.circle[(i + 1) % 5].channel), "{found}");
        }
        assert!(found.names[0].contains("switch"), "{found}");
    }
}

#[test]
fn the_same_ring_with_a_dateline_does_not_deadlock() {
    for switching in [Switching::Wormhole, Switching::CutThrough, Switching::StoreAndForward] {
        let (wiring, table) = ring(5, true);
        let parameters = Parameters { switching, lanes: 2, buffer_phits: 32, ..Parameters::MYRINET };
        let mut simulator = Simulator::new(&wiring, parameters, table).unwrap();
        let mut traffic = OpenLoop::new(uniform(0.8, 32, 1), &wiring);
        simulator.run(200_000, &mut traffic).unwrap();
        traffic.stop();
        assert!(simulator.finish(10_000_000, &mut traffic).unwrap(), "what was sent arrives");
        assert_eq!(simulator.created(), simulator.delivered());
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let outcome = |seed| {
        let (wiring, table) = line(6);
        let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table).unwrap();
        let mut traffic = OpenLoop::new(uniform(0.1, 32, seed), &wiring);
        let rules = Rules { warm_up: 1000, batch: 500, least: 4, most: 6, precision: 0.0 };
        measure(&mut simulator, &mut traffic, 0.1, &rules).unwrap()
    };
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

#[test]
fn below_saturation_what_is_offered_is_accepted() {
    let (wiring, table) = line(4);
    let traffic = |load| OpenLoop::new(uniform(load, 16, 3), &wiring);
    for (load, keeps_up) in [(0.1, true), (0.95, false)] {
        let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table.clone()).unwrap();
        let point = measure(&mut simulator, &mut traffic(load), load, &Rules::USUAL).unwrap();
        assert_eq!(point.saturated, !keeps_up, "{point:?}");
        if keeps_up {
            assert!((point.accepted.mean / load - 1.0).abs() < 0.05, "{point:?}");
            // The empty network: on average 1 + 5/3 switches, and the tail.
            assert!(
                point.network_latency.mean > 24.0 * 8.0 / 3.0 + 15.0 && point.network_latency.mean < 200.0,
                "{point:?}"
            );
        }
        assert!(point.utilization.iter().all(|u| (0.0..=1.0).contains(u)));
    }
}

#[test]
fn when_channels_die_everything_is_still_accounted_for() {
    for parameters in [
        Parameters { lanes: 2, ..Parameters::MYRINET },
        Parameters { link_cycles: 5, ..Parameters::CUT_THROUGH },
    ] {
        let (wiring, table) = line(6);
        let mut simulator = Simulator::new(&wiring, parameters, table).unwrap();
        let mut traffic = OpenLoop::new(uniform(0.5, 40, 9), &wiring);
        simulator.run(5_000, &mut traffic).unwrap();
        let mut gone = 0;
        for channel in [ChannelId(4), ChannelId(5)] {
            gone += simulator.kill(channel);
            simulator.conserved().unwrap();
        }
        gone += simulator.clear(SwitchId(1));
        simulator.conserved().unwrap();
        simulator.run(20_000, &mut traffic).unwrap();
        gone += simulator.discard_stranded();
        simulator.conserved().unwrap();
        assert!(gone > 3, "{gone}");
        assert_eq!(simulator.discarded().packets, gone);
        simulator.revive(ChannelId(4));
        simulator.revive(ChannelId(5));
        traffic.stop();
        assert!(simulator.finish(10_000_000, &mut traffic).unwrap(), "the others arrive");
        assert_eq!(simulator.created().packets, simulator.delivered().packets + gone);
    }
}

#[test]
fn hosts_that_may_not_inject_do_not() {
    let (wiring, table) = line(2);
    let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table).unwrap();
    simulator.allow_injection(EndNodeId(0), false);
    let mut script = Script::new(vec![(0, post(0, 1, 8, 0)), (0, post(1, 0, 8, 1))]);
    simulator.run(1000, &mut script).unwrap();
    assert_eq!(script.arrived.iter().map(|a| a.0).collect::<Vec<_>>(), [1]);
    simulator.allow_injection(EndNodeId(0), true);
    simulator.run(2000, &mut script).unwrap();
    assert_eq!(script.arrived[1], (0, 1000 + 1 + 2 * 24 + 7));
}

#[test]
fn all_patterns_and_lengths_are_delivered_to_the_last_phit() {
    let patterns =
        ["uniform", "bit-reversal", "shuffle", "transpose", "local:2"].map(|p| p.parse::<Pattern>().unwrap());
    for pattern in patterns {
        for length in [Length::Fixed(32), Length::Bimodal { short: 8, long: 64, share_short: 0.75 }] {
            let (wiring, table) = line(8);
            let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table).unwrap();
            let mut traffic =
                OpenLoop::new(Traffic { pattern, length, load: 0.1, copies: 1, seed: 5 }, &wiring);
            simulator.run(20_000, &mut traffic).unwrap();
            traffic.stop();
            assert!(simulator.finish(1_000_000, &mut traffic).unwrap(), "{pattern} {length}");
            let created = simulator.created();
            assert_eq!(
                (created, simulator.discarded()),
                (simulator.delivered(), Count::default()),
                "{pattern} {length}"
            );
            // What was wanted was sent: senders x cycles x load.
            let wanted = f64::from(traffic.senders()) * 20_000.0 * 0.1;
            assert!(
                (created.phits as f64 / wanted - 1.0).abs() < 0.15,
                "{pattern} {length}: {} of {wanted}",
                created.phits
            );
            let mean = created.phits as f64 / created.packets as f64;
            assert!((mean / length.mean() - 1.0).abs() < 0.15, "{pattern} {length}: {mean}");
        }
    }
}

#[test]
fn copies_of_a_message_leave_one_after_the_other() {
    let (wiring, table) = line(6);
    let mut traffic = OpenLoop::new(
        Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load: 0.05, copies: 3, seed: 2 },
        &wiring,
    );
    let mut posts = Vec::new();
    while traffic.next() < 50_000 {
        let before = posts.len();
        let now = traffic.next();
        traffic.act(now, &mut posts);
        let made = &posts[before..];
        assert!(
            made.len() % 3 == 0
                && made.chunks(3).all(|c| c.iter().all(|p| p.source == c[0].source && p.tag == c[0].tag))
        );
    }
    // The load counts each copy.
    let load = posts.iter().map(|p| f64::from(p.phits)).sum::<f64>() / 6.0 / 50_000.0;
    assert!((load / 0.05 - 1.0).abs() < 0.1, "{load}");
    let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table).unwrap();
    let mut script = Script::new([1, 2, 3].map(|to| (0, post(0, to, 16, u64::from(to)))).to_vec());
    assert!(simulator.finish(10_000, &mut script).unwrap());
    // Each waits for the tail of the one before and is looked at in a switch; nothing else comes in between.
    let times: Vec<u64> = script.arrived.iter().map(|a| a.1).collect();
    assert_eq!(script.arrived.iter().map(|a| a.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(times.windows(2).all(|w| w[1] - w[0] <= 16 + 2 * 24), "{times:?}");
}

/// Round a ring of three switches, until `out` says that packets leave it at switch 1 for switch 3.
struct Round {
    out: bool,
}

impl Routing for Round {
    fn candidates(&self, at: SwitchId, _from: Lane, _packet: &Packet, out: &mut Vec<Lane>) {
        let channel = match at.0 {
            1 if self.out => 6,
            s => 2 * s,
        };
        out.push(Lane { channel: ChannelId(channel), lane: 0 });
    }
}

#[test]
fn a_packet_that_comes_round_to_where_its_tail_still_leaves_is_no_deadlock() {
    let s = SwitchId;
    let wiring =
        Wiring::new(4, vec![(s(0), s(1)), (s(1), s(2)), (s(2), s(0)), (s(1), s(3))], vec![s(0), s(3)]);
    let parameters = Parameters { lanes: 1, ..Parameters::CUT_THROUGH };
    let mut simulator = Simulator::new(&wiring, parameters, Round { out: false }).unwrap();
    let mut script = Script::new(vec![(0, post(0, 1, 60, 7))]);
    // The head is back at switch 0 after a few cycles and wants the lane to switch 1, into which the same
    // packet is still being sent.
    for _ in 0..60 {
        simulator.run(simulator.now() + 1, &mut script).unwrap();
        simulator.no_deadlock().unwrap();
    }
    simulator.routing.out = true;
    simulator.wake_all();
    assert!(simulator.finish(10_000, &mut script).unwrap());
    assert_eq!(script.arrived.len(), 1);
}
