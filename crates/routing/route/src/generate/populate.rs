//! End nodes for generated networks.

use crate::network::{NetworkBuilder, SwitchId};

/// Attaches the same number of end nodes to each switch.
pub(super) fn populate(
    builder: &mut NetworkBuilder,
    switches: impl IntoIterator<Item = SwitchId>,
    each: usize,
) {
    let mut number = 0;
    for s in switches {
        for _ in 0..each {
            builder.add_end_node(format!("node{number}"), s);
            number += 1;
        }
    }
}
