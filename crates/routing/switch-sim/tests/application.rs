//! Application cores on fabrics.

use evenkeel_switch_sim::application::*;

fn paper(fabric: Fabric, core: Core, bytes: u32) -> Outcome {
    run(fabric, load(fabric, core, bytes), 1).unwrap()
}

fn us(fabric: Fabric, ticks: &[u64]) -> Statistics {
    Statistics::of(ticks, fabric.tick_ns() / 1000.0)
}

/// Hosts at one switch; a line takes `ticks` for a message of any length.
fn one_switch(hosts: u32, ticks: u64) -> Lines {
    let line = |to| Line {
        to,
        unit_bytes: u32::MAX,
        unit_ticks: ticks,
        gap_ticks: 0,
        delay_ticks: 0,
        cut_through: false,
        order: Order::Arrival,
    };
    let lines =
        (0..hosts).map(|_| line(Node::Switch(0))).chain((0..hosts).map(|h| line(Node::Host(h)))).collect();
    let framing = Framing { payload: u32::MAX, overhead: 0, least: 1 };
    Lines {
        lines,
        first: (0..hosts as usize).collect(),
        next: vec![(hosts as usize..2 * hosts as usize).collect()],
        replicas: Replicas::Late,
        framing,
        seed: 1,
    }
}

#[test]
fn on_a_perfect_network_the_last_iteration_is_over_after_nine_times_of_computing() {
    for core in [Core::Mesh, Core::Torus] {
        let mut program =
            Program::new(Load { core, hosts: 256, bytes: 2048, iterations: 10, compute_ticks: 10_000 });
        one_switch(256, 0).run(&mut program);
        assert!(program.finished());
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
fn a_host_goes_on_only_when_its_neighbours_have_sent_and_hosts_drift_apart() {
    let mut apart = 0;
    for fabric in [Fabric::Ethernet, Fabric::Avici] {
        for core in [Core::Mesh, Core::Torus] {
            let load = load(fabric, core, 1024);
            let outcome = run(fabric, load, 1).unwrap();
            let program = Program::new(load);
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
                    let begun = |h: u32| ends[i - 1][h as usize] + load.compute_ticks;
                    let ready = program.neighbours(h).into_iter().map(begun).max().unwrap().max(begun(h));
                    assert!(ends[i][h as usize] > ready, "{fabric} {core}: host {h} in iteration {i}");
                }
            }
            apart = apart.max(outcome.farthest_apart());
        }
    }
    // Neighbours are at most a step apart, the corners of the mesh 30; there is no barrier, so more than one.
    assert!((2..=30).contains(&apart), "{apart}");
}

#[test]
fn neighbours_are_those_of_a_square() {
    let of = |core, host| {
        Program::new(Load { core, hosts: 256, bytes: 1, iterations: 1, compute_ticks: 0 }).neighbours(host)
    };
    assert_eq!(of(Core::Mesh, 0), [1, 16]);
    assert_eq!(of(Core::Mesh, 17), [16, 18, 1, 33]);
    assert_eq!(of(Core::Torus, 0), [15, 1, 240, 16]);
    // A square of four has one neighbour in each direction, not two.
    assert_eq!(
        Program::new(Load { core: Core::Torus, hosts: 4, bytes: 1, iterations: 1, compute_ticks: 0 })
            .neighbours(0),
        [1, 2]
    );
}

#[test]
fn messages_become_frames() {
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
fn a_token_takes_what_the_parts_take() {
    // Table 1: least and most are what the constants were made from, means and deviations are not.
    for (fabric, least, mean, most, deviation) in [
        (Fabric::Myrinet, 0.388, 0.427, 0.869, 0.093),
        (Fabric::Ethernet, 1.564, 1.595, 3.532, 0.244),
        (Fabric::Avici, 1.380, 1.386, 1.530, 0.024),
        (Fabric::AviciFabric, 0.180, 0.186, 0.330, 0.024),
    ] {
        let outcome = paper(fabric, Core::Token, 1);
        let found = us(fabric, &outcome.messages);
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
fn long_messages_go_at_the_rate_of_the_line() {
    // What a frame carries of what it takes, at 1 Gb/s; 1.28 Gb/s without frames.
    let ethernet = 1500.0 / 1538.0;
    for (fabric, bytes, rate) in [
        (Fabric::Myrinet, 150_000, 1.28),
        (Fabric::Ethernet, 15_000_000, ethernet),
        (Fabric::Avici, 15_000_000, ethernet),
        (Fabric::AviciFabric, 15_000_000, 20.0 * 64.0 / 72.0),
    ] {
        let outcome = run(fabric, Load { hosts: 2, ..load(fabric, Core::Token, bytes) }, 1).unwrap();
        let found = f64::from(bytes) * 8.0 / (outcome.messages[0] as f64 * fabric.tick_ns());
        // The fabric stores the whole message on the way, as it has no frames of its own.
        assert!((found / rate - 1.0).abs() < 0.005, "{fabric}: {found} Gb/s");
    }
}

#[test]
fn fans_are_bound_by_the_one_host() {
    // 255 messages of 2 KB into or out of one line, with what is around them: Ethernet's headers and gaps,
    // 195 ns in Myrinet.
    for (fabric, core, line_us) in [
        (Fabric::Myrinet, Core::FanIn, 12.995),
        (Fabric::Ethernet, Core::FanIn, 16.992),
        (Fabric::Avici, Core::FanIn, 16.992),
        (Fabric::AviciFabric, Core::FanIn, 0.9216),
        (Fabric::AviciFabric, Core::FanOut, 0.9216),
    ] {
        let outcome = paper(fabric, core, 2048);
        let found = us(fabric, &outcome.messages);
        assert_eq!(outcome.messages.len(), 255);
        assert!((found.most / (255.0 * line_us) - 1.0).abs() < 0.004, "{fabric} {core}: {found:?}");
    }
}

#[test]
fn ethernet_replicates_on_its_way_and_means_are_those_of_the_paper() {
    // Tables 2 and 3 count frames of conventional Ethernet.
    for (core, mean, deviation) in [(Core::FanIn, 2488.14, 1343.83), (Core::FanOut, 46.17, 11.13)] {
        let found = us(Fabric::Ethernet, &paper(Fabric::Ethernet, core, 2048).pieces);
        assert!(
            (found.mean / mean - 1.0).abs() < 1e-4 && (found.deviation / deviation - 1.0).abs() < 1e-3,
            "{core}: {found:?}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    for (fabric, core) in [(Fabric::Avici, Core::FanIn), (Fabric::Myrinet, Core::Mesh)] {
        let outcome = |seed| run(fabric, Load { iterations: 2, ..load(fabric, core, 2048) }, seed).unwrap();
        assert!(outcome(1) == outcome(1) && outcome(1) != outcome(2), "{fabric}");
    }
}
