//! Compares the simulator with closed formulas, and with rules that hold for every network.

use evenkeel_route::{EndNodeId, SwitchId};
use evenkeel_switch_sim::*;

/// Sends given packets at given times, and records when they arrive.
struct Script {
    /// Times and packets, in increasing order of times.
    packets: Vec<(u64, NewPacket)>,
    /// The index of the packet that is sent next.
    next: usize,
    /// Tags and times of packets that have arrived.
    arrived: Vec<(u64, u64)>,
}

impl Script {
    fn new(packets: Vec<(u64, NewPacket)>) -> Script {
        Script { packets, next: 0, arrived: Vec::new() }
    }
}

impl Workload for Script {
    fn next_time(&self) -> u64 {
        self.packets.get(self.next).map_or(u64::MAX, |p| p.0)
    }

    fn generate(&mut self, now: u64, packets: &mut Vec<NewPacket>) {
        while let Some((_, packet)) = self.packets.get(self.next).filter(|p| p.0 <= now) {
            packets.push(*packet);
            self.next += 1;
        }
    }

    fn delivered(&mut self, now: u64, packet: &Packet, _: &mut Vec<NewPacket>) {
        self.arrived.push((packet.tag, now));
    }
}

fn packet(source: u32, destination: u32, phits: u32, tag: u64) -> NewPacket {
    NewPacket { source: EndNodeId(source), destination: EndNodeId(destination), phits, tag }
}

/// Switches in a line, each with one host of the same number.
fn line(switches: u32) -> (Wiring, TableRouting) {
    let links = (0..switches - 1).map(|s| (SwitchId(s), SwitchId(s + 1))).collect();
    let wiring = Wiring::new(switches, links, (0..switches).map(SwitchId).collect());
    let mut table = TableRouting::new(switches, switches);
    for at in 0..switches {
        for to in (0..switches).filter(|to| *to != at) {
            let channel = if to > at { ChannelId(2 * at) } else { ChannelId(2 * (at - 1) + 1) };
            table.set(SwitchId(at), to, VirtualLane { channel, lane: 0 });
        }
    }
    (wiring, table)
}

/// Switches in a ring with clockwise paths only, which is the textbook example of a cycle of channels. With
/// `dateline`, packets change to lane 1 where the ring closes.
fn ring(switches: u32, dateline: bool) -> (Wiring, TableRouting) {
    let links = (0..switches).map(|s| (SwitchId(s), SwitchId((s + 1) % switches))).collect();
    let wiring = Wiring::new(switches, links, (0..switches).map(SwitchId).collect());
    let mut table = TableRouting::new(switches, switches);
    for at in 0..switches {
        for to in (0..switches).filter(|to| *to != at) {
            // A packet to a lower number has not passed the link that closes the ring.
            let lane = u8::from(dateline && to > at);
            table.set(SwitchId(at), to, VirtualLane { channel: ChannelId(2 * at), lane });
        }
    }
    (wiring, table)
}

fn uniform(load: f64, phits: u32, seed: u64) -> Traffic {
    Traffic { pattern: Pattern::Uniform, length: Length::Fixed(phits), load, copies: 1, seed }
}

#[test]
fn the_latency_of_an_empty_network_is_the_sum_of_its_parts() {
    let (wiring, table) = line(5);
    for (parameters, expected) in [
        // The head takes a cycle on each channel and 23 in each switch; the tail follows.
        (Parameters::MYRINET, 1 + 5 * 24 + 31),
        (Parameters { header_cycles: 3, link_cycles: 7, ..Parameters::MYRINET }, 7 + 5 * 10 + 31),
        (Parameters::CUT_THROUGH, 1 + 5 * 2 + 31),
        // Every switch stores the whole packet first.
        (Parameters { switching: Switching::StoreAndForward, ..Parameters::CUT_THROUGH }, 32 + 5 * (1 + 32)),
    ] {
        let mut simulator = Simulator::new(&wiring, parameters, table.clone()).unwrap();
        let mut script = Script::new(vec![(10, packet(0, 4, 32, 1)), (10_000, packet(4, 0, 32, 2))]);
        assert!(simulator.finish(100_000, &mut script).unwrap());
        assert_eq!(script.arrived, [(1, 10 + expected), (2, 10_000 + expected)], "{parameters:?}");
        assert_eq!(simulator.phits_moved().iter().sum::<u64>(), 2 * 32 * 6);
    }
}

#[test]
fn a_channel_moves_one_phit_per_period() {
    let (wiring, table) = line(2);
    for period in [1, 3] {
        // With one lane, the time to route and to arbitrate would leave gaps between packets.
        let parameters = Parameters { header_cycles: 0, arbiter_cycles: 0, ..Parameters::CUT_THROUGH };
        let mut simulator = Simulator::new(&wiring, parameters, table.clone()).unwrap();
        simulator.set_period(ChannelId(0), period);
        let mut script = Script::new((0..500).map(|i| (0, packet(0, 1, 64, i))).collect());
        assert!(simulator.finish(1_000_000, &mut script).unwrap());
        let (first, last) = (script.arrived[0].1, script.arrived[499].1);
        let cycles = (last - first) as f64 / (499.0 * 64.0);
        assert!((cycles - f64::from(period)).abs() < 0.04 * f64::from(period), "{cycles}");
        assert!(
            script.arrived.windows(2).all(|w| w[0].0 < w[1].0),
            "packets of the same pair of hosts stay in order"
        );
    }
}

#[test]
fn lanes_share_a_channel_fairly() {
    // Hosts 0 and 1 at switch 0 send over one link to hosts 2 and 3, each on its own lane. Each gets half
    // of the link.
    let s = SwitchId;
    let wiring = Wiring::new(2, vec![(s(0), s(1))], vec![s(0), s(0), s(1), s(1)]);
    let mut table = TableRouting::new(2, 4);
    for (to, lane) in [(2, 0), (3, 1)] {
        table.set(s(0), to, VirtualLane { channel: ChannelId(0), lane });
    }
    let parameters = Parameters { lanes: 2, buffer_phits: 8, ..Parameters::MYRINET };
    let mut simulator = Simulator::new(&wiring, parameters, table).unwrap();
    let mut script = Script::new(vec![(0, packet(0, 2, 10_000, 0)), (0, packet(1, 3, 10_000, 1))]);
    assert!(simulator.finish(100_000, &mut script).unwrap());
    let times: Vec<u64> = script.arrived.iter().map(|a| a.1).collect();
    assert!(times.iter().all(|t| (19_990..20_100).contains(t)), "{times:?}");
}

#[test]
fn tables_with_a_cycle_deadlock_and_the_cycle_is_named() {
    for switching in [Switching::Wormhole, Switching::CutThrough, Switching::StoreAndForward] {
        let (wiring, table) = ring(5, false);
        let parameters = Parameters { switching, lanes: 2, buffer_phits: 32, ..Parameters::MYRINET };
        let mut simulator = Simulator::new(&wiring, parameters, table).unwrap();
        let mut traffic = OpenLoop::new(uniform(0.8, 32, 1), &wiring);
        let Err(SimulationError::Deadlock(found)) = simulator.run(1_000_000, &mut traffic) else {
            panic!("{switching:?} did not deadlock")
        };
        assert_eq!(found.cycle.len(), 5, "{found}");
        for (i, lane) in found.cycle.iter().enumerate() {
            assert_eq!(wiring.to(lane.channel), wiring.from(found.cycle[(i + 1) % 5].channel), "{found}");
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
        assert!(simulator.finish(10_000_000, &mut traffic).unwrap(), "all packets arrive");
        assert_eq!(simulator.created(), simulator.delivered());
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let outcome = |seed| {
        let (wiring, table) = line(6);
        let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table).unwrap();
        let mut traffic = OpenLoop::new(uniform(0.1, 32, seed), &wiring);
        let rules = StoppingRules { warm_up: 1000, batch: 500, least: 4, most: 6, precision: 0.0 };
        measure(&mut simulator, &mut traffic, 0.1, &rules).unwrap()
    };
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

#[test]
fn below_saturation_all_offered_traffic_is_accepted() {
    let (wiring, table) = line(4);
    let traffic = |load| OpenLoop::new(uniform(load, 16, 3), &wiring);
    for (load, keeps_up) in [(0.1, true), (0.95, false)] {
        let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table.clone()).unwrap();
        let point = measure(&mut simulator, &mut traffic(load), load, &StoppingRules::USUAL).unwrap();
        assert_eq!(point.saturated, !keeps_up, "{point:?}");
        if keeps_up {
            assert!((point.accepted.mean / load - 1.0).abs() < 0.05, "{point:?}");
            // In the empty network: 1 + 5/3 switches on average, and the tail.
            assert!(
                point.network_latency.mean > 24.0 * 8.0 / 3.0 + 15.0 && point.network_latency.mean < 200.0,
                "{point:?}"
            );
        }
        assert!(point.utilization.iter().all(|u| (0.0..=1.0).contains(u)));
    }
}

#[test]
fn failed_channels_do_not_lose_or_duplicate_phits() {
    for parameters in [
        Parameters { lanes: 2, ..Parameters::MYRINET },
        Parameters { link_cycles: 5, ..Parameters::CUT_THROUGH },
    ] {
        let (wiring, table) = line(6);
        let mut simulator = Simulator::new(&wiring, parameters, table).unwrap();
        let mut traffic = OpenLoop::new(uniform(0.5, 40, 9), &wiring);
        simulator.run(5_000, &mut traffic).unwrap();
        let mut discarded = 0;
        for channel in [ChannelId(4), ChannelId(5)] {
            discarded += simulator.fail_channel(channel);
            simulator.check_conservation().unwrap();
        }
        discarded += simulator.discard_packets_at(SwitchId(1));
        simulator.check_conservation().unwrap();
        simulator.run(20_000, &mut traffic).unwrap();
        discarded += simulator.discard_stranded();
        simulator.check_conservation().unwrap();
        assert!(discarded > 3, "{discarded}");
        assert_eq!(simulator.discarded().packets, discarded);
        simulator.restore_channel(ChannelId(4));
        simulator.restore_channel(ChannelId(5));
        traffic.stop();
        assert!(simulator.finish(10_000_000, &mut traffic).unwrap(), "all other packets arrive");
        assert_eq!(simulator.created().packets, simulator.delivered().packets + discarded);
    }
}

#[test]
fn a_host_sends_only_while_injection_is_allowed() {
    let (wiring, table) = line(2);
    let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table).unwrap();
    simulator.allow_injection(EndNodeId(0), false);
    let mut script = Script::new(vec![(0, packet(0, 1, 8, 0)), (0, packet(1, 0, 8, 1))]);
    simulator.run(1000, &mut script).unwrap();
    assert_eq!(script.arrived.iter().map(|a| a.0).collect::<Vec<_>>(), [1]);
    simulator.allow_injection(EndNodeId(0), true);
    simulator.run(2000, &mut script).unwrap();
    assert_eq!(script.arrived[1], (0, 1000 + 1 + 2 * 24 + 7));
}

#[test]
fn every_phit_of_all_patterns_and_lengths_is_delivered() {
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
                (simulator.delivered(), TrafficCount::default()),
                "{pattern} {length}"
            );
            // Senders x cycles x load.
            let expected = f64::from(traffic.senders()) * 20_000.0 * 0.1;
            assert!(
                (created.phits as f64 / expected - 1.0).abs() < 0.15,
                "{pattern} {length}: {} instead of {expected}",
                created.phits
            );
            let mean = created.phits as f64 / created.packets as f64;
            assert!((mean / length.mean() - 1.0).abs() < 0.15, "{pattern} {length}: {mean}");
        }
    }
}

#[test]
fn copies_of_a_message_leave_the_host_one_after_the_other() {
    let (wiring, table) = line(6);
    let mut traffic = OpenLoop::new(
        Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load: 0.05, copies: 3, seed: 2 },
        &wiring,
    );
    let mut packets = Vec::new();
    while traffic.next_time() < 50_000 {
        let before = packets.len();
        let now = traffic.next_time();
        traffic.generate(now, &mut packets);
        let new = &packets[before..];
        assert!(
            new.len() % 3 == 0
                && new.chunks(3).all(|c| c.iter().all(|p| p.source == c[0].source && p.tag == c[0].tag))
        );
    }
    // The load counts each copy.
    let load = packets.iter().map(|p| f64::from(p.phits)).sum::<f64>() / 6.0 / 50_000.0;
    assert!((load / 0.05 - 1.0).abs() < 0.1, "{load}");
    let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, table).unwrap();
    let mut script = Script::new([1, 2, 3].map(|to| (0, packet(0, to, 16, u64::from(to)))).to_vec());
    assert!(simulator.finish(10_000, &mut script).unwrap());
    // Each waits for the tail of the one before it, and is routed in a switch. Nothing else comes in between.
    let times: Vec<u64> = script.arrived.iter().map(|a| a.1).collect();
    assert_eq!(script.arrived.iter().map(|a| a.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(times.windows(2).all(|w| w[1] - w[0] <= 16 + 2 * 24), "{times:?}");
}

/// Routes packets round a ring of three switches. With `leaves`, they leave it at switch 1 for switch 3.
struct RingRouting {
    leaves: bool,
}

impl Routing for RingRouting {
    fn candidates(&self, at: SwitchId, _from: VirtualLane, _packet: &Packet, out: &mut Vec<VirtualLane>) {
        let channel = match at.0 {
            1 if self.leaves => 6,
            s => 2 * s,
        };
        out.push(VirtualLane { channel: ChannelId(channel), lane: 0 });
    }
}

#[test]
fn a_packet_whose_head_waits_for_its_own_tail_is_not_deadlocked() {
    let s = SwitchId;
    let wiring =
        Wiring::new(4, vec![(s(0), s(1)), (s(1), s(2)), (s(2), s(0)), (s(1), s(3))], vec![s(0), s(3)]);
    let parameters = Parameters { lanes: 1, ..Parameters::CUT_THROUGH };
    let mut simulator = Simulator::new(&wiring, parameters, RingRouting { leaves: false }).unwrap();
    let mut script = Script::new(vec![(0, packet(0, 1, 60, 7))]);
    // After a few cycles the head is back at switch 0. It waits for the lane to switch 1, which the tail of
    // the same packet still occupies.
    for _ in 0..60 {
        simulator.run(simulator.now() + 1, &mut script).unwrap();
        simulator.check_deadlock().unwrap();
    }
    simulator.routing.leaves = true;
    simulator.retry_waiting_heads();
    assert!(simulator.finish(10_000, &mut script).unwrap());
    assert_eq!(script.arrived.len(), 1);
}
