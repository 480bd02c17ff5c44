//! Plans of table updates: every state between old and new tables is safe, whatever arrives first.

use evenkeel_route::plan::{StepError, UpdatePlan, UpdateStep, plan, prove, usual_targets};
use evenkeel_route::*;

fn irregular(switches: usize, degree: usize, seed: u64) -> Network {
    generate::irregular(generate::Irregular { switches, degree, end_nodes: 2, parallel: false }, seed)
        .unwrap()
}

fn tables(network: &Network) -> Table {
    let order = schemes::depth_first(network);
    tables::balanced(network, &ChannelOrder::up_down(network, &order), tables::BalanceEffort::default())
}

/// Tables as `evenkeel route compute` makes them. They are closer to minimal, so that repairs have less room.
fn tight_tables(network: &Network) -> Table {
    tables::balanced(
        network,
        &schemes::ascending(network, schemes::AscendingSearch::default(), &mut |_| {}),
        tables::BalanceEffort::default(),
    )
}

/// The tables of one network in the switches of another, matched by GUIDs and ports.
fn carried_over(from: &Network, table: &Table, to: &Network) -> Table {
    let lids = format::lfts::Lids::of(from).unwrap();
    format::lfts::read(to, &format::lfts::write(from, table, &lids)).unwrap().0
}

/// The network without a random cable or switch, still connected.
fn changed(network: &Network, random: &mut Random) -> Network {
    loop {
        let less = if random.below(2) == 0 {
            network.without(&[Channel(random.below(network.channels()) as u32)], &[])
        } else {
            network.without(&[], &[SwitchId(random.below(network.switches().len()) as u32)])
        };
        if less.is_connected() {
            return less;
        }
    }
}

fn assert_proved(network: &Network, current: &Table, plan: &UpdatePlan) {
    let mut table = current.clone();
    for step in &plan.steps {
        assert!(!step.changes.is_empty());
        let after = step.applied(&table);
        prove(network, &table, &after).unwrap();
        table = after;
    }
    assert_eq!(table, plan.end);
    assert!(
        plan.missing_paths.is_empty(),
        "{} paths of {} switches are missing",
        plan.missing_paths.len(),
        network.switches().len()
    );
    // The checker also judges the final tables.
    let found = check::check_traffic(network, &table, check::Traffic::Everything);
    assert!(found.is_sound(), "{:?}", found.faults);
}

#[test]
fn failures_and_additions_are_planned_and_each_state_is_proved() {
    let mut random = Random::new(7);
    for case in 0..40 {
        let whole = irregular([12, 24, 32][case % 3], 4, case as u64);
        let less = changed(&whole, &mut random);
        let tables = if case % 2 == 0 { tables } else { tight_tables };
        // A cable or switch fails.
        let current = carried_over(&whole, &tables(&whole), &less);
        assert_proved(&less, &current, &plan(&less, &current, 2, &usual_targets(&less)).unwrap());
        // It comes back.
        let current = carried_over(&less, &tables(&less), &whole);
        assert_proved(&whole, &current, &plan(&whole, &current, 2, &usual_targets(&whole)).unwrap());
    }
}

/// Here repairs alone do not suffice, and moving all entries to tables made from scratch loses paths.
#[test]
fn tables_near_the_current_ones_lose_no_path_where_repairs_have_no_room() {
    let whole = irregular(64, 4, 4);
    let mut random = Random::new(1004);
    let less = loop {
        let less = whole.without(&[Channel(random.below(whole.channels()) as u32)], &[]);
        if less.is_connected() {
            break less;
        }
    };
    let current = carried_over(&whole, &tight_tables(&whole), &less);
    assert_proved(&less, &current, &plan(&less, &current, 2, &usual_targets(&less)).unwrap());
}

/// Here one search reaches neither tables near the current ones nor tables made from scratch: it loses 132,
/// 192 and 84 paths.
#[test]
fn intermediate_tables_lead_to_tables_that_one_search_does_not_reach() {
    for (seed, channel) in [(2, 20), (11, 44), (16, 58)] {
        let whole = irregular(32, 3, seed);
        let less = whole.without(&[Channel(channel)], &[]);
        let current = carried_over(&whole, &tight_tables(&whole), &less);
        assert_proved(&less, &current, &plan(&less, &current, 2, &usual_targets(&less)).unwrap());
    }
}

#[test]
fn a_network_without_changes_needs_no_step() {
    let network = irregular(16, 4, 3);
    let current = tables(&network);
    let found = plan(&network, &current, 0, &[]).unwrap();
    assert!(found.steps.is_empty() && found.end == current);
}

#[test]
fn new_cables_come_into_use() {
    let whole = irregular(24, 4, 5);
    let less = whole.without(&[Channel(10)], &[]);
    let current = carried_over(&less, &tables(&less), &whole);
    let before = check::check(&whole, &current);
    let found = plan(&whole, &current, 3, &usual_targets(&whole)).unwrap();
    let after = check::check(&whole, &found.end);
    assert!(after.mean_hops() < before.mean_hops(), "{} {}", after.mean_hops(), before.mean_hops());
}

/// All mixtures of old and new entries, one switch and destination at a time.
fn by_brute_force(network: &Network, before: &Table, step: &UpdateStep) -> bool {
    let reach = |table: &Table| -> Vec<bool> {
        let pairs = network.switch_ids().flat_map(|s| table.destinations().map(move |d| (s, d)));
        pairs.map(|(s, d)| table.path(network, s, d).is_some()).collect()
    };
    let had = reach(before);
    (0..1_u32 << step.changes.len()).all(|mixture| {
        let arrived =
            step.changes.iter().enumerate().filter(|(i, _)| mixture >> i & 1 == 1).map(|(_, c)| *c).collect();
        let table = UpdateStep { changes: arrived }.applied(before);
        let faults = check::check_traffic(network, &table, check::Traffic::Everything).faults;
        let bad = faults.iter().any(|f| matches!(f, check::Fault::Loop { .. } | check::Fault::Cycle { .. }));
        !bad && reach(&table).iter().zip(&had).all(|(has, had)| *has || !had)
    })
}

#[test]
fn a_proved_step_is_safe_for_every_mixture_of_old_and_new_entries() {
    let mut random = Random::new(11);
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..40 {
        let network = irregular(5, 3, seed);
        // Two tables of different orders, and some entries of the second as a step.
        let table = |start| {
            let order = ChannelOrder::up_down(&network, &schemes::breadth_first(&network, SwitchId(start)));
            tables::balanced(&network, &order, tables::BalanceEffort::default())
        };
        let (before, target) = (table(0), table(3));
        let mut changes = Vec::new();
        for to in before.destinations() {
            for at in network.switch_ids().filter(|at| before.port(*at, to) != target.port(*at, to)) {
                changes.push(plan::EntryChange { at, to, port: target.port(at, to).unwrap() });
            }
        }
        random.shuffle(&mut changes);
        changes.truncate(7);
        let step = UpdateStep { changes };
        let holds = by_brute_force(&network, &before, &step);
        match prove(&network, &before, &step.applied(&before)) {
            Ok(()) => {
                assert!(holds, "seed {seed}: proved, but not safe");
                right += 1;
            }
            Err(_) => wrong += u32::from(!holds),
        }
    }
    assert!(right > 5 && wrong > 5, "too few of one kind: {right} safe, {wrong} not");
}

#[test]
fn all_steps_of_a_plan_at_once_are_refused() {
    let mut random = Random::new(3);
    let mut refused = 0;
    for seed in 0..20 {
        let whole = irregular(24, 3, seed);
        let less = changed(&whole, &mut random);
        let current = carried_over(&whole, &tables(&whole), &less);
        let found = plan(&less, &current, 2, &usual_targets(&less)).unwrap();
        if found.steps.len() > 1 {
            refused += u32::from(prove(&less, &current, &found.end).is_err());
        }
    }
    assert!(refused > 0);
}

#[test]
fn steps_that_loop_or_lose_paths_are_refused() {
    let network = irregular(8, 3, 2);
    let current = tables(&network);
    let to = Destination::EndNode(EndNodeId(0));
    let at = network
        .switch_ids()
        .find(|s| to.switch(&network) != *s && current.next(&network, *s, to).is_some())
        .unwrap();
    let next = network.to(current.next(&network, at, to).unwrap());
    // A switch that sends packets back to where they came from.
    let mut looping = current.clone();
    let back = network.leaving(next).iter().find(|c| network.to(**c) == at).unwrap();
    if to.switch(&network) != next {
        looping.set(next, to, Some(network.out_port(*back)));
        assert!(matches!(prove(&network, &current, &looping), Err(StepError::Loop { .. })));
    }
    let mut hole = current.clone();
    hole.set(at, to, None);
    assert!(matches!(prove(&network, &current, &hole), Err(StepError::Unreachable { .. })));
}
