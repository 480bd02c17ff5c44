//! `evenkeel model show`: parameters, and what barriers cost under them.

use super::arguments::ShowArguments;
use super::barrier_costs;
use crate::errors::ModelError;
use crate::input::model_parameters;
use evenkeel_model::{Model, Node, Parameters};
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::nanoseconds as ns;

/// The text for a terminal of this width.
pub fn show(arguments: &ShowArguments, width: usize) -> Result<String, ModelError> {
    let set = parameters(arguments)?;
    let mut page = Page::new(width);
    if let Some(network) = &set.network {
        page.hanging(&format!("{}: {}", set.name, set.source));
        parameter_table(network, &mut page);
    }
    if let Some(node) = &set.node {
        let name = if set.network.is_some() { "node" } else { set.name.as_str() };
        page.hanging(&node_sentence(name, node));
        parameter_table(&node.model, &mut page);
    }
    page.blank();
    let width = page.width();
    barrier_costs::lines(&set, arguments, width).into_iter().for_each(|line| _ = page.line(line));
    page.blank().paragraph(&legend(&set, arguments));
    Ok(page.text())
}

/// The set that the arguments name, or the network and the node.
fn parameters(arguments: &ShowArguments) -> Result<Parameters, ModelError> {
    let set = model_parameters::load(&arguments.parameters)?;
    let (Some(node), Some(ranks)) = (&arguments.node, arguments.ranks_per_node) else { return Ok(set) };
    let node = model_parameters::load(node)?;
    set.with_node_of(&node, ranks).ok_or_else(|| ModelError::Pair {
        why: match (&set.network, &node.node) {
            (None, _) => "the first describes no network",
            (_, None) => "the second describes no node",
            _ => "they do not go together",
        },
        network: set.name.clone(),
        node: node.name,
    })
}

fn node_sentence(name: &str, node: &Node) -> String {
    let ranks = node.ranks.map(|ranks| format!(", {ranks} ranks each")).unwrap_or_default();
    let cores = node.cores.map(|cores| format!(", {cores} cores")).unwrap_or_default();
    let switch = node.switch_ns.map(|switch| format!("; a context switch takes {}", ns(switch)));
    format!("{name}{ranks}{cores}: {}{}", node.source, switch.unwrap_or_default())
}

fn legend(set: &Parameters, arguments: &ShowArguments) -> String {
    let warm = match arguments.consecutive {
        1 => String::new(),
        consecutive => format!(", {consecutive} in a row"),
    };
    let overlap = if arguments.serialised { "are charged one after the other" } else { "overlap" };
    format!(
        "Closed forms: all ranks arrive at the same time, nothing contends{warm}. Messages of a round \
         {overlap}; n and f in brackets are the best of at most log2 of the ranks.{}",
        crowded_node(set, arguments.ranks)
    )
}

/// What to keep in mind about nodes that have fewer cores than ranks.
fn crowded_node(set: &Parameters, ranks: u32) -> String {
    let Some(node) = &set.node else { return String::new() };
    let ranks_of_node = ranks.min(node.ranks.unwrap_or(u32::MAX));
    let Some(cores) = node.cores.filter(|cores| *cores < ranks_of_node) else { return String::new() };
    match node.model {
        Model::LoP(_) => format!(
            " The functions were measured with one rank and its peers. Where all ranks are active at once, \
             on {cores} cores, a barrier takes longer: each round needs every rank to run."
        ),
        Model::LogGp(_) => format!(
            " The forms assume a core for each rank. There are {cores}; with more ranks, each core has to \
             switch to each of its ranks at least once."
        ),
    }
}

fn column(head: &'static str) -> Column {
    Column { group: "", head, dispensable: 0 }
}

/// Adds the constants of LogGP, or values of LoP's functions.
fn parameter_table(model: &Model, page: &mut Page) {
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
            page.table(&columns, &[row]);
        }
        Model::LoP(m) => {
            let columns = ["  peers", "o_s(p)", "o_r(p)", "L(p)", "RTT(p)"].map(column);
            let most = m.most_peers;
            let powers = [1, 2, 4, 8, 16, 32, 64, 128, 256].into_iter().filter(|peers| *peers < most);
            let row = |peers: u64| {
                vec![
                    format!("  {peers}"),
                    ns(m.send_overhead.at_ns(peers)),
                    ns(m.receive_overhead.at_ns(peers)),
                    ns(m.latency_ns(peers)),
                    ns(m.round_trip.at_ns(peers)),
                ]
            };
            page.table(&columns, &powers.chain([most]).map(row).collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::model::arguments::ReleaseMethod;
    use evenkeel_model::builtin;

    fn shown(parameters: &str) -> ShowArguments {
        ShowArguments {
            parameters: parameters.into(),
            ranks: 64,
            node: None,
            ranks_per_node: None,
            release: ReleaseMethod::Binomial,
            serialised: true,
            consecutive: 5000,
        }
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
    fn all_sets_can_be_shown() {
        for name in builtin::names() {
            assert!(show(&shown(&name), 100).unwrap().contains(&name));
        }
    }

    #[test]
    fn what_sharing_cores_costs_at_least_is_shown() {
        let alone = show(&ShowArguments { ranks: 16, ..shown("two-core-vm") }, 100).unwrap();
        let row = alone.lines().find(|l| l.starts_with("+ switches")).unwrap();
        assert!(row.ends_with("10.6 µs") && row.contains(" -"), "{alone}");
        assert!(
            !show(&shown("mozart-infiniband+two-core-vm:2"), 100).unwrap().contains("switches, at least")
        );
    }

    #[test]
    fn two_networks_make_no_pair() {
        let arguments = ShowArguments {
            node: Some("clic-fast-ethernet".into()),
            ranks_per_node: Some(4),
            ..shown("mozart-infiniband")
        };
        assert!(show(&arguments, 100).unwrap_err().to_string().contains("describes no node"));
    }
}
