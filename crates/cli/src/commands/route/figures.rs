//! Figures about tables: sentences for people, and fields of records.

use evenkeel_route::Network;
use evenkeel_route::check::{Fault, Findings};
use evenkeel_text::page::Page;
use evenkeel_text::paragraph::wrap;
use evenkeel_text::units::count;
use serde::Serialize;

/// The lines of a ring of waiting packets are not broken below this width.
const LEAST_FAULT_WIDTH: usize = 100;

/// What the checker found of tables.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Whether all end nodes reach each other and no ring of waiting packets can close.
    pub sound: bool,
    /// Entries of the table that lead nowhere, or round for ever.
    pub broken: u64,
    /// Lanes on which packets can wait for each other in a ring.
    pub cyclic_lanes: usize,
    /// Mean length of paths between different end nodes, in channels between switches.
    pub mean_hops: f64,
    /// The same if all paths were minimal.
    pub mean_minimal_hops: f64,
    /// Length of the longest path.
    pub longest_path: usize,
    /// Ordered pairs of end nodes over the busiest channel.
    pub busiest_load: u64,
    /// Ordered pairs of end nodes over a channel, on average.
    pub mean_load: f64,
    /// Share of pairs whose path is not minimal.
    pub longer_share: f64,
    /// Pairs of channels of which one can wait for the other.
    pub dependencies: u64,
    /// What is wrong, for people.
    pub faults: Vec<String>,
}

impl Figures {
    /// The figures of what the checker found.
    pub fn of(network: &Network, found: &Findings) -> Figures {
        Figures {
            sound: found.is_sound(),
            broken: found.broken_paths,
            cyclic_lanes: found.faults.iter().filter(|fault| matches!(fault, Fault::Cycle { .. })).count(),
            mean_hops: found.mean_hops(),
            mean_minimal_hops: found.mean_minimal_hops(),
            longest_path: found.max_hops(),
            busiest_load: found.max_load(),
            mean_load: found.mean_load(),
            longer_share: found.non_minimal_pairs as f64 / found.pairs.max(1) as f64,
            dependencies: found.dependencies,
            faults: found.faults.iter().map(|fault| fault.describe(network)).collect(),
        }
    }

    /// Adds a verdict, the figures and the faults.
    pub fn describe(&self, network: &Network, page: &mut Page) {
        page.hanging(&format!(
            "{} switches, {} end nodes, {} cables between switches.",
            count(network.switches().len() as u64),
            count(network.end_nodes().len() as u64),
            count(network.channels() as u64 / 2)
        ));
        page.hanging(&self.verdict());
        page.hanging(&format!(
            "{:.3} hops on average ({:.3} if all paths were minimal), {} at most; {:.1}% of paths are longer \
             than minimal.",
            self.mean_hops,
            self.mean_minimal_hops,
            self.longest_path,
            100.0 * self.longer_share
        ));
        page.hanging(&format!(
            "The busiest channel carries {} pairs of end nodes, the average one {:.0}.",
            count(self.busiest_load),
            self.mean_load
        ));
        let width = page.width().max(LEAST_FAULT_WIDTH);
        for fault in &self.faults {
            page.blank();
            for line in fault.lines().flat_map(|line| wrap(line, width, "      ")) {
                page.line(line);
            }
        }
    }

    fn verdict(&self) -> String {
        if self.sound {
            format!(
                "All end nodes reach each other, and no packets can wait for each other in a ring: {} pairs \
                 of channels depend on each other, without a cycle.",
                count(self.dependencies)
            )
        } else if self.broken > 0 {
            format!("WRONG: {} paths do not arrive.", count(self.broken))
        } else {
            "CAN DEADLOCK: all end nodes reach each other, but packets can wait for each other in a ring."
                .into()
        }
    }
}
