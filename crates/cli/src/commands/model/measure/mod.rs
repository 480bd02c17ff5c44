//! `evenkeel model measure`.

pub mod hosts;
pub mod local;
pub mod plot;
pub mod samples;
pub mod text;
