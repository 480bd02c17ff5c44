//! Compares application cores on fabrics with the paper and with closed formulas.

use evenkeel_switch_sim::application::*;

fn run_as_in_paper(fabric: Fabric, core: ApplicationCore, bytes: u32) -> Outcome {
    run(fabric, paper_parameters(fabric, core, bytes), 1).unwrap()
}

fn in_us(fabric: Fabric, ticks: &[u64]) -> Statistics {
    Statistics::of(ticks, fabric.tick_ns() / 1000.0)
}

/// A network of hosts at one switch. Each line takes `ticks` for a message of any length.
fn one_switch(hosts: u32, ticks: u64) -> FrameNetwork {
    let line = |to| Line {
        to,
        unit_bytes: u32::MAX,
        unit_ticks: ticks,
        gap_ticks: 0,
        delay_ticks: 0,
        cut_through: false,
        discipline: QueueDiscipline::Fifo,
    };
    let lines = (0..hosts)
        .map(|_| line(LineEnd::Switch(0)))
        .chain((0..hosts).map(|h| line(LineEnd::Host(h))))
        .collect();
    let framing = Framing { payload: u32::MAX, overhead: 0, least: 1 };
    FrameNetwork {
        lines,
        first: (0..hosts as usize).collect(),
        next: vec![(hosts as usize..2 * hosts as usize).collect()],
        replication: Replication::AtBranch,
        framing,
        seed: 1,
    }
}

#[test]
fn without_network_delays_ten_iterations_take_nine_times_the_computing_time() {
    for core in [ApplicationCore::Mesh, ApplicationCore::Torus] {
        let mut program = Program::new(CoreParameters {
            core,
            hosts: 256,
            bytes: 2048,
            iterations: 10,
            compute_ticks: 10_000,
        });
        one_switch(256, 0).run(&mut program);
        assert!(program.is_finished());
        let outcome = program.outcome();
        assert_eq!((outcome.end, outcome.farthest_apart()), (90_000, 0));
        assert!(
            outcome
                .iterations
                .iter()
                .enumerate()
                .all(|(i, ends)| ends.len() == 256 && ends.iter().all(|e| e.0 == 10_000 * i as u64))
        );
    }
}

#[test]
fn a_host_waits_for_its_neighbours_only_so_hosts_drift_apart() {
    let mut apart = 0;
    for fabric in [Fabric::Ethernet, Fabric::Avici] {
        for core in [ApplicationCore::Mesh, ApplicationCore::Torus] {
            let parameters = paper_parameters(fabric, core, 1024);
            let outcome = run(fabric, parameters, 1).unwrap();
            let program = Program::new(parameters);
            let ends: Vec<Vec<u64>> = outcome
                .iterations
                .iter()
                .map(|all| {
                    let mut by_host = vec![0; 256];
                    all.iter().for_each(|(time, host)| by_host[*host as usize] = *time);
                    by_host
                })
                .collect();
            for i in 1..10 {
                for h in 0..256_u32 {
                    let begun = |h: u32| ends[i - 1][h as usize] + parameters.compute_ticks;
                    let ready = program.neighbours(h).into_iter().map(begun).max().unwrap().max(begun(h));
                    assert!(ends[i][h as usize] > ready, "{fabric} {core}: host {h} in iteration {i}");
                }
            }
            apart = apart.max(outcome.farthest_apart());
        }
    }
    // Neighbours are at most one iteration apart, so the corners of the mesh are at most 30 apart. There is
    // no barrier, so some hosts are more than one iteration apart.
    assert!((2..=30).contains(&apart), "{apart}");
}

#[test]
fn neighbours_are_beside_above_and_below_in_a_square() {
    let of = |core, host| {
        Program::new(CoreParameters { core, hosts: 256, bytes: 1, iterations: 1, compute_ticks: 0 })
            .neighbours(host)
    };
    assert_eq!(of(ApplicationCore::Mesh, 0), [1, 16]);
    assert_eq!(of(ApplicationCore::Mesh, 17), [16, 18, 1, 33]);
    assert_eq!(of(ApplicationCore::Torus, 0), [15, 1, 240, 16]);
    // A square of four has one neighbour in each direction, not two.
    assert_eq!(
        Program::new(CoreParameters {
            core: ApplicationCore::Torus,
            hosts: 4,
            bytes: 1,
            iterations: 1,
            compute_ticks: 0
        })
        .neighbours(0),
        [1, 2]
    );
}

#[test]
fn messages_are_split_into_frames() {
    let framing = Framing { payload: 1500, overhead: 18, least: 64 };
    for (bytes, frames) in [
        (0, vec![64]),
        (1, vec![64]),
        (46, vec![64]),
        (47, vec![65]),
        (1500, vec![1518]),
        (2048, vec![1518, 566]),
        (3000, vec![1518, 1518]),
    ] {
        assert_eq!(framing.frames(bytes), frames, "{bytes}");
    }
}

#[test]
fn token_latencies_are_those_of_the_paper() {
    // Table 1. The constants were derived from the least and the greatest values, but not from means and
    // deviations.
    for (fabric, least, mean, most, deviation) in [
        (Fabric::Myrinet, 0.388, 0.427, 0.869, 0.093),
        (Fabric::Ethernet, 1.564, 1.595, 3.532, 0.244),
        (Fabric::Avici, 1.380, 1.386, 1.530, 0.024),
        (Fabric::AviciFabric, 0.180, 0.186, 0.330, 0.024),
    ] {
        let outcome = run_as_in_paper(fabric, ApplicationCore::Token, 1);
        let found = in_us(fabric, &outcome.messages);
        assert_eq!(outcome.messages.len(), 256);
        assert_eq!(outcome.end, outcome.messages.iter().sum::<u64>(), "one message at a time");
        assert!(
            (found.least - least).abs() < 0.001 && (found.mean / mean - 1.0).abs() < 0.02,
            "{fabric}: {found:?}"
        );
        assert!(
            (found.most - most).abs() < 0.062 && (found.deviation - deviation).abs() < 0.005,
            "{fabric}: {found:?}"
        );
    }
}

#[test]
fn long_messages_reach_the_rate_of_the_line() {
    // The share of payload in a frame, at 1 Gb/s. Myrinet has 1.28 Gb/s and no frames.
    let ethernet = 1500.0 / 1538.0;
    for (fabric, bytes, rate) in [
        (Fabric::Myrinet, 150_000, 1.28),
        (Fabric::Ethernet, 15_000_000, ethernet),
        (Fabric::Avici, 15_000_000, ethernet),
        (Fabric::AviciFabric, 15_000_000, 20.0 * 64.0 / 72.0),
    ] {
        let parameters = paper_parameters(fabric, ApplicationCore::Token, bytes);
        let outcome = run(fabric, CoreParameters { hosts: 2, ..parameters }, 1).unwrap();
        let found = f64::from(bytes) * 8.0 / (outcome.messages[0] as f64 * fabric.tick_ns());
        // The Avici fabric stores whole messages on the way, because it has no frames of its own.
        assert!((found / rate - 1.0).abs() < 0.005, "{fabric}: {found} Gb/s");
    }
}

#[test]
fn fan_in_and_fan_out_are_limited_by_the_line_of_one_host() {
    // 255 messages of 2 KB into or out of one line, with Ethernet's headers and gaps, or 195 ns in Myrinet.
    for (fabric, core, line_us) in [
        (Fabric::Myrinet, ApplicationCore::FanIn, 12.995),
        (Fabric::Ethernet, ApplicationCore::FanIn, 16.992),
        (Fabric::Avici, ApplicationCore::FanIn, 16.992),
        (Fabric::AviciFabric, ApplicationCore::FanIn, 0.9216),
        (Fabric::AviciFabric, ApplicationCore::FanOut, 0.9216),
    ] {
        let outcome = run_as_in_paper(fabric, core, 2048);
        let found = in_us(fabric, &outcome.messages);
        assert_eq!(outcome.messages.len(), 255);
        assert!((found.most / (255.0 * line_us) - 1.0).abs() < 0.004, "{fabric} {core}: {found:?}");
    }
}

#[test]
fn mean_latencies_of_ethernet_are_those_of_the_paper() {
    // Tables 2 and 3 count frames of conventional Ethernet.
    for (core, mean, deviation) in
        [(ApplicationCore::FanIn, 2488.14, 1343.83), (ApplicationCore::FanOut, 46.17, 11.13)]
    {
        let found = in_us(Fabric::Ethernet, &run_as_in_paper(Fabric::Ethernet, core, 2048).pieces);
        assert!(
            (found.mean / mean - 1.0).abs() < 1e-4 && (found.deviation / deviation - 1.0).abs() < 1e-3,
            "{core}: {found:?}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    for (fabric, core) in [(Fabric::Avici, ApplicationCore::FanIn), (Fabric::Myrinet, ApplicationCore::Mesh)]
    {
        let parameters = CoreParameters { iterations: 2, ..paper_parameters(fabric, core, 2048) };
        let outcome = |seed| run(fabric, parameters, seed).unwrap();
        assert!(outcome(1) == outcome(1) && outcome(1) != outcome(2), "{fabric}");
    }
}
