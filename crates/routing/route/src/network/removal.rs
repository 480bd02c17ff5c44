//! What is left of a network without some cables and switches.

use super::builder::NetworkBuilder;
use super::ids::{Channel, SwitchId};
use super::topology::{EndNode, Network};
use std::collections::HashSet;

impl Network {
    /// The same network without some cables (named by either of their channels) and some switches, whose end
    /// nodes and cables are removed with them.
    ///
    /// Switches, end nodes and channels are numbered anew in the same order. Names, GUIDs and ports stay.
    pub fn without(&self, cables: &[Channel], switches: &[SwitchId]) -> Network {
        let mut builder = NetworkBuilder::default();
        if self.guids_are_made_up() {
            builder.set_guids_made_up();
        }
        let mut renamed = vec![None; self.switches().len()];
        for s in self.switch_ids().filter(|s| !switches.contains(s)) {
            renamed[s.index()] = Some(builder.add(self.switch(s).clone()));
        }
        for e in self.end_nodes() {
            if let Some(switch) = renamed[e.switch.index()] {
                builder.attach(EndNode { switch, ..e.clone() });
            }
        }
        let removed: HashSet<u32> = cables.iter().map(|c| c.0 / 2).collect();
        for c in self.channel_ids().step_by(2).filter(|c| !removed.contains(&(c.0 / 2))) {
            if let (Some(a), Some(b)) = (renamed[self.from(c).index()], renamed[self.to(c).index()]) {
                builder.connect((a, self.out_port(c)), (b, self.in_port(c)));
            }
        }
        builder.build().expect("a part of a valid network is valid")
    }
}
