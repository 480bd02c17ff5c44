//! Plans for random failures and additions. Every state of each is proved. Prints a line of JSON per plan.
//!
//!     cargo run --release -p evenkeel-route --example plans > bench/routing/plans.jsonl
//!
//! `-- 9 12` runs the cases 9, 10 and 11.

use evenkeel_route::plan::{plan, prove, usual_targets};
use evenkeel_route::*;

const SIZES: [usize; 4] = [64, 96, 128, 256];
const DEGREES: [usize; 4] = [3, 4, 6, 8];
const IMPROVE: u32 = 3;

/// Tables as `evenkeel route compute` makes them.
fn tables(network: &Network) -> Table {
    let order = schemes::ascending(network, schemes::AscendingSearch::default(), &mut |_| {});
    tables::balanced(network, &order, tables::BalanceEffort::fitting(network))
}

/// Processor time of this thread, which does not depend on other work of the machine.
fn processor_seconds() -> f64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    said.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds first") * 1e-9
}

fn without_one(network: &Network, switch: bool, random: &mut Random) -> Network {
    loop {
        let less = if switch {
            network.without(&[], &[SwitchId(random.below(network.switches().len()) as u32)])
        } else {
            network.without(&[Channel(random.below(network.channels()) as u32)], &[])
        };
        if less.is_connected() {
            return less;
        }
    }
}

fn main() {
    let mut bounds = std::env::args().skip(1).map(|n| n.parse().expect("a number"));
    let (first, end) = (bounds.next().unwrap_or(0), bounds.next().unwrap_or(100));
    for case in first..end {
        let (switches, degree): (usize, usize) = (SIZES[case % 4], DEGREES[case / 4 % 4]);
        let of = generate::Irregular { switches, degree, end_nodes: 2, parallel: false };
        let whole = generate::irregular(of, case as u64).expect("a possible network");
        let mut random = Random::new(1000 + case as u64);
        let kind = ["cable fails", "switch fails", "cable comes", "switch comes"][(case / 16 + case) % 4];
        let less = without_one(&whole, kind.starts_with("switch"), &mut random);
        let (before, now) = if kind.ends_with("fails") { (&whole, &less) } else { (&less, &whole) };
        let lids = format::lfts::Lids::of(before).expect("enough addresses");
        let current = format::lfts::read(now, &format::lfts::write(before, &tables(before), &lids))
            .expect("what was written")
            .0;
        let fresh_table = tables(now);
        let targets = usual_targets(now);
        let begun = processor_seconds();
        let found = plan(now, &current, IMPROVE, &targets).expect("tables free of cycles");
        let seconds = processor_seconds() - begun;
        let mut table = current.clone();
        let mut proved = 0;
        for step in &found.steps {
            let after = step.applied(&table);
            prove(now, &table, &after).expect("a state that is not safe");
            table = after;
            proved += 1;
        }
        let (end, fresh) =
            (check::check_traffic(now, &table, check::Traffic::Everything), check::check(now, &fresh_table));
        let changes: Vec<usize> = found.steps.iter().map(|s| s.changes.len()).collect();
        let entries = now.switches().len() * (now.switches().len() + now.end_nodes().len());
        println!(
            "{{\"case\": {case}, \"switches\": {switches}, \"degree\": {degree}, \"kind\": \"{kind}\", \
             \"steps\": {proved}, \"changes\": {changes:?}, \"entries\": {entries}, \"lost\": {}, \
             \"sound\": {}, \"seconds\": {seconds:.4}, \"mean_hops\": {:.4}, \"fresh_mean_hops\": {:.4}, \
             \"busiest\": {}, \"fresh_busiest\": {}}}",
            found.missing_paths.len(),
            end.is_sound(),
            end.mean_hops(),
            fresh.mean_hops(),
            end.max_load(),
            fresh.max_load(),
        );
    }
}
