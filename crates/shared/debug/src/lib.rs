//! Which rank waited for which in a recorded run, and why.
//!
//! [`build`] makes a [`run`] of the files of a trace; [`analysis`] is what is computed of it once: which
//! calls waited ([`waits`]), the critical [`path`], [`supersteps`], and how much time was spent in which
//! function up to any moment ([`shares`]). Questions are answered from that: [`why`] a call waited, which
//! ranks exchange messages ([`graph`]), where two runs differ first ([`difference`]). All of it is pure.
//! [`text`] says the answers in a terminal, [`answers`] to the page, and [`server`] serves both page and
//! answers on this machine.
//!
//! May use: trace, text. Must never: write anything but answers, or listen to other machines.

pub mod analysis;
pub mod answers;
pub mod build;
pub mod collectives;
pub mod difference;
pub mod functions;
pub mod graph;
mod http;
pub mod messages;
pub mod path;
pub mod place;
pub mod run;
pub mod search;
pub mod sentences;
pub mod server;
pub mod shares;
pub mod supersteps;
pub mod text;
pub mod waits;
pub mod why;
