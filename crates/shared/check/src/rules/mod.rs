//! The rules, one a file.

pub mod buffering;
pub mod collective;
pub mod deadlock;
pub mod handle;
pub mod leak;
pub mod message;
pub mod modified;
pub mod overlap;
pub mod race;
pub mod unmatched;
