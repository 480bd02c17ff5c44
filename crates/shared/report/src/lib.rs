//! What a run waited for, told to a person: [`summary`] for the terminal, [`html`] for the browser.
//!
//! Everything here turns a [`RunRecord`](evenkeel_record::RunRecord) into text. Both renderings are
//! made from one [`Digest`], so that they cannot disagree. This crate may use the record types, serde
//! and the built page in `web/dist`; it must never do I/O, look at the clock or the environment, or
//! know anything of MPI: it runs inside other people's programs at the end of every run, and a record
//! from a file may contain anything.
//!
//! Sums are taken over ranks unless something is called "per rank". *Waiting* is the time spent in
//! collective calls until other ranks had come; its share is taken of the sum of all ranks' run times.
//! *Saved* is the estimate the engine makes of the time that a library without bypass would have held
//! ranks in addition; it does not include that a call as such is faster or slower than the library's.

mod deferral;
mod digest;
mod histogram;
mod page;
mod read;
mod summary;

pub use deferral::{DeferralDigest, Observer};
pub use digest::{CommDigest, Digest, Note, OpDigest, RankDigest, TimelineDigest, TimesLast, digest};
pub use page::{document, html};
pub use read::{Head, ParseError, merge, parse};
pub use summary::summary;
