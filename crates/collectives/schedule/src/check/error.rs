//! What can be wrong with a schedule.

use crate::step::{Counter, Flag, Place, Rank, Step};
use thiserror::Error;

/// The first rule that a schedule was found to break. `epoch` counts from 1.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum CheckError {
    #[error(
        "rank {} may leave the barrier of epoch {epoch} before rank {} has entered it",
        rank.0, missing.0
    )]
    LeftEarly { rank: Rank, epoch: u64, missing: Rank },

    #[error(
        "no rank can continue: {waiting} ranks wait, the first of them rank {} in epoch {epoch} at {step:?}",
        rank.0
    )]
    Deadlock { waiting: usize, rank: Rank, epoch: u64, step: Step },

    #[error("rank {} addresses rank {}, which does not exist: {step:?}", rank.0, to.0)]
    NoSuchRank { rank: Rank, to: Rank, step: Step },

    #[error("rank {} uses more than the schedule states: {step:?}", rank.0)]
    BeyondResources { rank: Rank, step: Step },

    #[error("rank {} continues with a round that is not a later one: {step:?}", rank.0)]
    Backwards { rank: Rank, step: Step },

    #[error(
        "flag {} of rank {} is raised to the value {value} for a second time, by rank {} in epoch {epoch}: \
         a wait cannot tell the two apart",
        flag.0, owner.0, by.0
    )]
    RaisedTwice { owner: Rank, flag: Flag, value: u64, by: Rank, epoch: u64 },

    #[error(
        "flag {} of rank {} is raised by rank {} in epoch {epoch} while an earlier raise may still be on \
         its way",
        flag.0, owner.0, by.0
    )]
    Overtaking { owner: Rank, flag: Flag, by: Rank, epoch: u64 },

    #[error(
        "flag {} of rank {} is raised by rank {} in epoch {epoch} although its owner may not have taken the \
         data that came with the previous raise",
        flag.0, owner.0, by.0
    )]
    Overrun { owner: Rank, flag: Flag, by: Rank, epoch: u64 },

    #[error(
        "counter {} of rank {} is added to by rank {} in epoch {epoch} while additions of its previous use \
         may be missing",
        counter.0, owner.0, by.0
    )]
    CountedEarly { owner: Rank, counter: Counter, by: Rank, epoch: u64 },

    #[error(
        "counter {} of rank {} is added to more often in epoch {epoch} than the {of} times that are awaited",
        counter.0, owner.0
    )]
    CountedTooOften { owner: Rank, counter: Counter, of: u32, epoch: u64 },

    #[error(
        "rank {} writes {place:?} of rank {} in epoch {epoch} although that rank may still need the old \
         contents",
        by.0, owner.0
    )]
    WriteRace { owner: Rank, place: Place, by: Rank, epoch: u64 },

    #[error(
        "rank {} reads its {place:?} in epoch {epoch} without having waited for the data that belongs there",
        rank.0
    )]
    ReadRace { rank: Rank, place: Place, epoch: u64 },

    #[error("rank {} reads its {place:?} in epoch {epoch}, where nothing has been written", rank.0)]
    Unwritten { rank: Rank, place: Place, epoch: u64 },

    #[error("rank {} writes into the input of rank {}", by.0, owner.0)]
    InputWritten { by: Rank, owner: Rank },

    #[error(
        "rank {} gets {found} as element {element} of its output in epoch {epoch}; it must be {wanted}",
        rank.0
    )]
    WrongData { rank: Rank, element: u32, epoch: u64, found: String, wanted: String },

    #[error(
        "element {element} of the output of epoch {epoch} is grouped {one} at one rank and {other} at rank \
         {}",
        rank.0
    )]
    UnequalGrouping { rank: Rank, element: u32, epoch: u64, one: String, other: String },
}
