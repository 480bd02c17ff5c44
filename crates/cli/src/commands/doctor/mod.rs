//! `evenkeel doctor`.

pub mod command;
pub mod kernel;
pub mod sibling;
mod system_call_dispatch;
