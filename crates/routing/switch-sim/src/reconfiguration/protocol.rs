//! The protocols.

mod reconfiguration;

pub(super) use reconfiguration::{Ground, Run, State, What, Word, carrier, make};
