//! The environment of an explored protocol: tables, and events that may happen next.

use super::error::ProtocolFault;
use crate::reconfiguration::control_network::{ControlEvent, ControlMessage};
use crate::reconfiguration::protocol::{EpochMessage, ProtocolEnvironment};
use crate::reconfiguration::switch_tables::SwitchTables;

/// Everything outside the protocols.
#[derive(Clone)]
pub(super) struct ExploredEnvironment {
    pub tables: SwitchTables,
    /// Events that may happen next, in the order in which they were caused.
    pub pending: Vec<ControlEvent<EpochMessage>>,
    /// By switch: whether its hosts are stopped.
    pub is_stopped: Vec<bool>,
    pub fault: ProtocolFault,
}

impl ProtocolEnvironment for ExploredEnvironment {
    fn tables(&mut self) -> &mut SwitchTables {
        &mut self.tables
    }

    fn send(&mut self, message: ControlMessage<EpochMessage>) {
        let ControlMessage { from, to, message, .. } = message;
        if self.fault != ProtocolFault::LostMessages || to as usize + 1 < self.is_stopped.len() {
            self.pending.push(ControlEvent { at: to, from, message });
        }
    }

    fn start_timer(&mut self, _cycles: u64, at: u32, message: EpochMessage) {
        self.pending.push(ControlEvent { at, from: at, message });
    }

    fn discard_packets_at(&mut self, _s: u32) {}

    fn allow_injection(&mut self, s: u32, is_allowed: bool) {
        self.is_stopped[s as usize] = !is_allowed;
    }
}
