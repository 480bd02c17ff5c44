//! `evenkeel model show`: parameters, and what barriers cost under them.

use super::arguments::Show;
use crate::errors::Failure;
use evenkeel_model::fan_out::choose;
use evenkeel_model::{Barrier, Charge, Model, Node, Parameters, Release, builtin};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::nanoseconds as ns;

/// The built-in sets, one a line.
pub fn list(width: usize) -> String {
    let row = |name: String| {
        let set = builtin::find(&name)?;
        let model = if matches!(set.network, Some(Model::LoP(_))) { "LoP" } else { "LogGP" };
        let source = set.node.map_or(set.source, |node| node.source);
        Some(vec![name, model.into(), source])
    };
    let rows: Vec<_> = builtin::names().into_iter().filter_map(row).collect();
    let wide = rows.iter().map(|r: &Vec<String>| r[0].len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for row in rows {
        let indent = " ".repeat(wide + 8);
        let text = wrap(&row[2], width.clamp(60, 160).saturating_sub(wide + 8), "");
        for (i, part) in text.iter().enumerate() {
            lines.push(if i == 0 {
                format!("{:wide$}  {:5} {part}", row[0], row[1])
            } else {
                format!("{indent}{part}")
            });
        }
    }
    lines.push(String::new());
    lines.extend(wrap("NETWORK+NODE:RANKS is a network between nodes with so many ranks each: mozart-infiniband+two-core-vm:2.", width.clamp(60, 160), ""));
    lines.join("\n") + "\n"
}

/// The text of `evenkeel model show`.
pub fn show(arguments: &Show, width: usize) -> Result<String, Failure> {
    let width = width.clamp(60, 160);
    let mut set = super::command::load(&arguments.parameters)?;
    if let (Some(node), Some(ranks)) = (&arguments.node, arguments.ranks_per_node) {
        let node = super::command::load(node)?;
        let why = || Failure::ModelPair {
            what: format!("{} and {}", set.name, node.name),
            why: lacking(&set, &node).into(),
        };
        set = set.with_node_of(&node, ranks).ok_or_else(why)?;
    }
    let mut lines = Vec::new();
    if let Some(network) = &set.network {
        lines.extend(wrap(&format!("{}: {}", set.name, set.source), width, "  "));
        lines.extend(parameters(network, width));
    }
    if let Some(node) = &set.node {
        let name = if set.network.is_some() { "node".into() } else { set.name.clone() };
        let held = node.ranks.map(|r| format!(", {r} ranks each")).unwrap_or_default();
        let cores = node.cores.map(|c| format!(", {c} cores")).unwrap_or_default();
        let switch =
            node.switch_ns.map(|s| format!("; handing over a core takes {}", ns(s))).unwrap_or_default();
        lines.extend(wrap(&format!("{name}{held}{cores}: {}{switch}", node.source), width, "  "));
        lines.extend(parameters(&node.model, width));
    }
    lines.push(String::new());
    let charge = if arguments.serialised { Charge::Serialised } else { Charge::Overlapped };
    lines.extend(costs(&set, arguments, charge, width));
    lines.push(String::new());
    let warm = if arguments.consecutive > 1 {
        format!(", {} in a row", arguments.consecutive)
    } else {
        String::new()
    };
    let overlap = if arguments.serialised { "are charged one after the other" } else { "overlap" };
    let crowded =
        |node: &Node| node.cores.filter(|cores| *cores < arguments.ranks.min(node.ranks.unwrap_or(u32::MAX)));
    let cores = match set.node.as_ref().and_then(|node| Some((node, crowded(node)?))) {
        None => String::new(),
        Some((Node { model: Model::LoP(_), .. }, cores)) => format!(
            " The functions were measured with one rank and its peers; where all are active at once, on {cores} cores, it takes longer: each round needs every rank to run."
        ),
        Some((_, cores)) => {
            format!(
                " Each rank is taken to have a core; there are {cores}, and beyond them each core has to be handed to each of its ranks at least once."
            )
        }
    };
    let legend = format!(
        "Closed forms: all ranks arrive at the same time, nothing contends{warm}. Messages of a round {overlap}; n and f in brackets are the best of at most log2 of the ranks.{cores}"
    );
    lines.extend(wrap(&legend, width, ""));
    Ok(lines.join("\n") + "\n")
}

fn lacking(network: &Parameters, node: &Parameters) -> &'static str {
    match (&network.network, &node.node) {
        (None, _) => "the first describes no network",
        (_, None) => "the second describes no node",
        _ => "they do not go together",
    }
}

fn column(head: &'static str) -> Column {
    Column { group: "", head, dispensable: 0 }
}

fn parameters(model: &Model, width: usize) -> Vec<String> {
    match model {
        Model::LogGp(m) => {
            let columns = ["  L", "o_s", "o_r", "g", "G"].map(column);
            let row = vec![
                format!("  {}", ns(m.latency_ns)),
                ns(m.send_overhead_ns),
                ns(m.receive_overhead_ns),
                ns(m.gap_ns),
                format!("{:.4} ns/B", m.gap_per_byte_ns),
            ];
            table(&columns, &[row], width).lines().collect()
        }
        Model::LoP(m) => {
            let columns = ["  peers", "o_s(p)", "o_r(p)", "L(p)", "RTT(p)"].map(column);
            let most = m.most_peers;
            let peers: Vec<u64> =
                [1, 2, 4, 8, 16, 32, 64, 128, 256].into_iter().filter(|p| *p < most).chain([most]).collect();
            let row = |p: &u64| {
                let (p, times) = (
                    *p,
                    [
                        m.send_overhead.at_ns(*p),
                        m.receive_overhead.at_ns(*p),
                        m.latency_ns(*p),
                        m.round_trip.at_ns(*p),
                    ],
                );
                std::iter::once(format!("  {p}")).chain(times.map(ns)).collect()
            };
            table(&columns, &peers.iter().map(row).collect::<Vec<_>>(), width).lines().collect()
        }
    }
}

/// A row for each barrier, a column for each number of ranks.
fn costs(set: &Parameters, arguments: &Show, charge: Charge, width: usize) -> Vec<String> {
    let ranks = numbers_of_ranks(u64::from(arguments.ranks));
    let release: Release = arguments.release.into();
    let cost = |barrier: Barrier, ranks: u64| {
        set.barrier_ns(barrier, ranks, release, charge, arguments.consecutive.into()).unwrap_or(f64::NAN)
    };
    // The best n of the candidates; trees with groups of n have as many rounds as dissemination with n − 1.
    let best = |ranks: u64, of: &dyn Fn(u64) -> Barrier, least: u64| {
        let found = choose(ranks, |c| cost(of(c.n + least - 1), ranks));
        found.map_or("-".to_string(), |(c, ns_)| format!("{} ({})", ns(ns_), c.n + least - 1))
    };
    let plain = |name: &str, barrier: Barrier| {
        std::iter::once(name.to_string())
            .chain(ranks.iter().map(|r| ns(cost(barrier, *r))))
            .collect::<Vec<_>>()
    };
    let chosen = |name: &str, least: u64, of: &dyn Fn(u64) -> Barrier| {
        std::iter::once(name.to_string()).chain(ranks.iter().map(|r| best(*r, of, least))).collect::<Vec<_>>()
    };
    let rows = [
        plain("central counter", Barrier::CentralCounter),
        chosen("combining tree (n)", 2, &|n| Barrier::CombiningTree { n }),
        plain("tournament", Barrier::Tournament),
        chosen("f-way tournament (f)", 2, &|f| Barrier::FWayTournament { f }),
        chosen("MCS (n)", 2, &|n| Barrier::Mcs { n }),
        plain("binomial tree", Barrier::BinomialTree),
        plain("butterfly", Barrier::Butterfly),
        plain("pairwise exchange", Barrier::PairwiseExchange),
        plain("dissemination", Barrier::Dissemination),
        chosen("n-way dissemination (n)", 1, &|n| Barrier::NWayDissemination { n }),
        chosen("n-wise exchange (n)", 1, &|n| Barrier::NWiseExchange { n }),
    ];
    let held = |ranks: u64| {
        set.node.as_ref().and_then(|n| n.switches_ns(ranks.min(n.ranks.map_or(u64::MAX, u64::from))))
    };
    let switches: Vec<Option<f64>> = ranks.iter().map(|r| held(*r)).collect();
    let mut head = vec!["ranks".to_string()];
    head.extend(ranks.iter().map(u64::to_string));
    let mut all = vec![head];
    all.extend(rows);
    if switches.iter().flatten().any(|s| *s > 0.0) {
        let row = switches.iter().map(|s| s.filter(|s| *s > 0.0).map_or("-".into(), ns));
        all.push(std::iter::once("+ switches, at least".to_string()).chain(row).collect());
    }
    let columns: Vec<Column> = (0..=ranks.len()).map(|_| column("")).collect();
    table(&columns, &all, width).rows
}

/// Up to seven numbers of ranks, the last as asked for: powers of two, every so manieth.
fn numbers_of_ranks(most: u64) -> Vec<u64> {
    let powers: Vec<u64> = (1..64).map(|i| 1 << i).take_while(|p| *p < most).collect();
    let step = powers.len().div_ceil(6).max(1);
    let mut chosen: Vec<u64> = powers.iter().rev().skip(step - 1).step_by(step).copied().collect();
    chosen.reverse();
    chosen.push(most);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::model::arguments::How;

    fn shown(parameters: &str) -> Show {
        Show {
            parameters: parameters.into(),
            ranks: 64,
            node: None,
            ranks_per_node: None,
            release: How::Binomial,
            serialised: true,
            consecutive: 5000,
        }
    }

    #[test]
    fn numbers_of_ranks_end_where_they_should() {
        assert_eq!(numbers_of_ranks(2), [2]);
        assert_eq!(numbers_of_ranks(64), [2, 4, 8, 16, 32, 64]);
        assert_eq!(numbers_of_ranks(1024), [4, 16, 64, 256, 1024]);
        for most in 2..5000 {
            let chosen = numbers_of_ranks(most);
            assert!(
                chosen.last() == Some(&most) && chosen.len() <= 7 && chosen.windows(2).all(|w| w[0] < w[1]),
                "{most}: {chosen:?}"
            );
        }
        assert!(numbers_of_ranks(u64::from(u32::MAX)).len() <= 7);
    }

    /// As the digest evaluates them: 36.8 and 18.4 µs for a tournament and for dissemination of 64 ranks.
    #[test]
    fn costs_stand_in_their_rows() {
        let text = show(&shown("mozart-infiniband"), 120).unwrap();
        let last_of = |name: &str| text.lines().find(|l| l.starts_with(name)).unwrap().trim_end().to_string();
        assert!(last_of("tournament").ends_with("36.8 µs"), "{text}");
        assert!(last_of("dissemination").ends_with("18.4 µs"), "{text}");
        assert!(last_of("n-way dissemination").ends_with("18.4 µs (1)"), "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 120), "{text}");
        assert!(text.contains("5000 in a row"));
    }

    #[test]
    fn all_sets_can_be_shown_and_are_listed() {
        for name in builtin::names() {
            assert!(show(&shown(&name), 100).unwrap().contains(&name));
            assert!(list(80).contains(&name));
        }
    }

    #[test]
    fn ranks_beyond_the_cores_are_not_passed_over() {
        let alone = show(&Show { ranks: 16, ..shown("two-core-vm") }, 100).unwrap();
        let row = alone.lines().find(|l| l.starts_with("+ switches")).unwrap();
        assert!(row.ends_with("10.6 µs") && row.contains(" -"), "{alone}");
        assert!(
            !show(&shown("mozart-infiniband+two-core-vm:2"), 100).unwrap().contains("switches, at least")
        );
    }

    #[test]
    fn a_pair_that_is_none_is_refused() {
        let arguments = Show {
            node: Some("clic-fast-ethernet".into()),
            ranks_per_node: Some(4),
            ..shown("mozart-infiniband")
        };
        assert!(show(&arguments, 100).unwrap_err().to_string().contains("describes no node"));
    }
}
