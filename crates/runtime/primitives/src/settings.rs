//! How a job's primitives behave.

use std::time::Duration;

/// How a job's primitives behave. Settings must be the same on all nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// A node has failed if it was asked and nothing was heard of it for so long. A slow node has not failed:
    /// it may stop for less.
    pub limit: Duration,
    /// After so long without an answer a request is repeated; then after twice as long, and so on.
    pub resend: Duration,
    /// How many nodes each node has below it in the tree.
    pub fanout: usize,
    /// Transfers of more bytes than this are sent ahead to all nodes, without passing the sequencer; shorter
    /// ones go along with the request.
    pub inline_bytes: usize,
    /// The rules of the protocol. Tests break them one at a time, to see that the breach is found.
    pub rules: Rules,
}

impl Default for Settings {
    fn default() -> Settings {
        let (limit, resend) = (Duration::from_secs(2), Duration::from_millis(20));
        Settings { limit, resend, fanout: 4, inline_bytes: 8 << 10, rules: Rules::default() }
    }
}

/// The rules that make operations atomic and ordered. They are settings for the sake of tests; without
/// any one of them the primitives are wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The sequencer starts an operation only when none is under way whose order with it matters.
    pub conflicts_wait: bool,
    /// A node lets nothing read what may be about to change.
    pub reads_wait: bool,
    /// A node carries an operation out only when all have agreed to it.
    pub all_or_none: bool,
    /// A node that has begun to settle an operation without the sequencer does not follow the sequencer any
    /// more.
    pub termination_binds: bool,
    /// A transfer whose data are sent ahead is ordered only when every node has them.
    pub data_first: bool,
    /// A node takes part in nothing that is ordered in a lower view than the highest that it knows of.
    pub old_views_are_refused: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            conflicts_wait: true,
            reads_wait: true,
            all_or_none: true,
            termination_binds: true,
            data_first: true,
            old_views_are_refused: true,
        }
    }
}
