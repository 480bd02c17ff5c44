//! d
pub mod machine;
