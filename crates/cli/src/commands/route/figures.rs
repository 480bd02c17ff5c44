//! Tables in figures: lines of text and records.

use evenkeel_route::Network;
use evenkeel_route::check::{Fault, Findings};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::units::count;
use serde::Serialize;

/// What was found of tables, for records.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Whether all end nodes reach each other and no ring of waiting packets can close.
    pub sound: bool,
    /// Entries of the table that lead nowhere, or round for ever.
    pub broken: u64,
    /// Lanes on which packets can wait for each other in a ring.
    pub cyclic_lanes: usize,
    /// Of paths between different end nodes, in channels between switches.
    pub mean_hops: f64,
    /// The same if all paths were minimal.
    pub mean_minimal_hops: f64,
    pub longest_path: usize,
    /// Ordered pairs of end nodes over the busiest channel.
    pub busiest_load: u64,
    pub mean_load: f64,
    /// Share of pairs whose path is not minimal.
    pub longer_share: f64,
    pub dependencies: u64,
    /// In words.
    pub faults: Vec<String>,
}

impl Figures {
    pub fn of(network: &Network, found: &Findings) -> Figures {
        Figures {
            sound: found.is_sound(),
            broken: found.broken_paths,
            cyclic_lanes: found.faults.iter().filter(|f| matches!(f, Fault::Cycle { .. })).count(),
            mean_hops: found.mean_hops(),
            mean_minimal_hops: found.mean_minimal_hops(),
            longest_path: found.max_hops(),
            busiest_load: found.max_load(),
            mean_load: found.mean_load(),
            longer_share: found.non_minimal_pairs as f64 / found.pairs.max(1) as f64,
            dependencies: found.dependencies,
            faults: found.faults.iter().map(|f| f.describe(network)).collect(),
        }
    }

    /// A verdict and the figures, for people.
    pub fn text(&self, network: &Network, width: usize) -> String {
        let (switches, end_nodes, cables) = (
            network.switches().len() as u64,
            network.end_nodes().len() as u64,
            network.channels() as u64 / 2,
        );
        let mut lines = wrap(
            &format!(
                "{} switches, {} end nodes, {} cables between switches.",
                count(switches),
                count(end_nodes),
                count(cables)
            ),
            width,
            "  ",
        );
        let verdict = if self.sound {
            format!(
                "All end nodes reach each other, and no packets can wait for each other in a ring: {} pairs of channels depend on each other, without a cycle.",
                count(self.dependencies)
            )
        } else if self.broken > 0 {
            format!("WRONG: {} paths do not arrive.", count(self.broken))
        } else {
            "CAN DEADLOCK: all end nodes reach each other, but packets can wait for each other in a ring."
                .into()
        };
        lines.extend(wrap(&verdict, width, "  "));
        lines.extend(wrap(
            &format!(
                "{:.3} hops on average ({:.3} if all paths were minimal), {} at most; {:.1}% of paths are longer than they need be.",
                self.mean_hops,
                self.mean_minimal_hops,
                self.longest_path,
                100.0 * self.longer_share
            ),
            width,
            "  ",
        ));
        lines.extend(wrap(
            &format!(
                "The busiest channel carries {} pairs of end nodes, the average one {:.0}.",
                count(self.busiest_load),
                self.mean_load
            ),
            width,
            "  ",
        ));
        for fault in &self.faults {
            lines.push(String::new());
            lines.extend(fault.lines().flat_map(|line| wrap(line, width.max(100), "      ")));
        }
        lines.join("\n") + "\n"
    }
}
