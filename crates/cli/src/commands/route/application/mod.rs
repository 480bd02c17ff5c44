//! `evenkeel route application`: application cores on models of Myrinet, Gigabit Ethernet and a router of
//! line cards.

mod arguments;
mod case;
mod command;
mod plot;

pub use arguments::ApplicationArguments;
pub use command::application;
