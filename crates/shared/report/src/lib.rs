//! The report of a run for a person to read: [`summary`] for the terminal, [`html`] for the browser.
//!
//! Everything here turns a [`RunRecord`](evenkeel_record::RunRecord) into text. Both forms are made from one
//! [`Digest`], so that they cannot disagree.
//!
//! Numbers are sums over all ranks unless they are called "per rank". *Waiting* is the time spent in
//! calls of MPI until other ranks had arrived, or their messages. Its share is relative to the sum of all
//! ranks' run times.
//!
//! May use: the record types, the text layout crate, serde, thiserror, and the built page in `web/dist`. Must
//! never: do I/O, read the clock or the environment, know anything of MPI, or fail on absurd numbers. It runs
//! inside other people's programs at the end of every run, and a record from a file may contain anything.

mod aggregate;
mod digest;
mod lateness;
mod page;
mod read;
mod summary;

pub use aggregate::digest;
pub use digest::{
    CommDigest, DeferralDigest, Digest, MessagesDigest, Note, Observer, OpDigest, PairDigest, RankDigest,
    TimelineDigest, TimesLast,
};
pub use page::{document, html};
pub use read::{ParseError, RunFacts, merge, parse};
pub use summary::summary;
