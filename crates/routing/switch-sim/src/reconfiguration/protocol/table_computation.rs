//! Tables that switches have computed.

use super::environment::ProtocolEnvironment;
use super::message::ProtocolMessage;
use super::reconfiguration::Reconfiguration;
use crate::reconfiguration::control_parameters::Protocol;
use crate::reconfiguration::link_direction::LinkDirection;

impl Reconfiguration {
    /// A switch has computed its adaptive tables.
    pub(super) fn install_minimal_tables(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        environment.tables().minimal[s as usize] = Some(self.target.clone());
        let computes_escape_tables = match self.protocol {
            Protocol::Static => true,
            // With merges, escape tables follow after the last reversal.
            Protocol::Overlapped => self.merges.is_empty(),
            // They are being computed already.
            Protocol::Planned => false,
        };
        if computes_escape_tables {
            self.start_timer(environment, self.table_cycles(), s, ProtocolMessage::EscapeTablesReady);
        }
    }

    /// A switch has computed its escape tables.
    pub(super) fn install_escape_tables(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        let target = self.target.clone();
        let tables = environment.tables();
        let old = tables.escape[s as usize].replace(target.clone());
        // A switch that has just been added has no earlier escape tables.
        tables.previous_escape[s as usize] = old.or(Some(target));
        match self.protocol {
            Protocol::Static => {
                for (link, _) in self.graph.neighbours(s) {
                    let leads_up = self.graph.leads_up(link, s);
                    let channel = tables.channel(&self.graph, link, s);
                    tables.direction[channel] =
                        if leads_up { LinkDirection::Up } else { LinkDirection::Down };
                }
                environment.allow_injection(s, true);
            }
            Protocol::Planned => self.continue_planned_merge(environment, s),
            Protocol::Overlapped => {}
        }
    }
}
