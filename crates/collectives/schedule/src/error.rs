//! Why a schedule cannot be made.

use crate::step::Place;
use thiserror::Error;

/// Why a schedule cannot be made. Each message says what failed, why, and what to do.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ScheduleError {
    /// No algorithm on the list has this name.
    #[error(
        "cannot find the algorithm `{name}`: there is none of that name. `evenkeel schedule list` lists all."
    )]
    NoAlgorithm {
        /// The name that was given.
        name: String,
    },
    /// A part of a schedule's name is not of the form NAME=VALUE.
    #[error("cannot read the parameter `{given}`: there is no value in it. Write NAME=VALUE.")]
    NotAPair {
        /// The part that was given.
        given: String,
    },
    /// The problem has no ranks.
    #[error("cannot make a schedule for 0 ranks: a schedule needs a rank. Ask for at least 1.")]
    NoRanks,
    /// The root is not one of the ranks.
    #[error(
        "cannot use rank {root} as root: there are {ranks} ranks, and the last is {last}. Name one of them.",
        last = ranks - 1
    )]
    NoRoot {
        /// The root that was given.
        root: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The algorithm has no parameter of this name.
    #[error(
        "cannot set `{name}` of {algorithm}: it has no such parameter (it has: {known}). Check the spelling."
    )]
    NoParameter {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The name that was given.
        name: String,
        /// The names of its parameters, or `none`.
        known: String,
    },
    /// The value lies outside the parameter's range.
    #[error("cannot set `{name}` of {algorithm} to {value}: it must be {range}. Choose a value from there.")]
    Value {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The parameter's name.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The permitted values.
        range: String,
    },
    /// A buffer would have more elements than a [`Place`] can address.
    #[error(
        "cannot make {algorithm} for {ranks} ranks and {elements} elements: a rank's buffers would have \
         {asked} elements, and {} is the most. Ask for fewer, or count in larger elements.",
        Place::MAX_ELEMENTS - 1
    )]
    TooLarge {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The number of ranks.
        ranks: u32,
        /// The elements of the vector.
        elements: u32,
        /// The elements that the largest buffer would have.
        asked: u64,
    },
    /// The map of nodes does not cover all ranks.
    #[error(
        "cannot use the map of nodes: it does not name the node of each of the {ranks} ranks. Give one \
         node for each rank."
    )]
    Nodes {
        /// The number of ranks.
        ranks: u32,
    },
}
