//! Ranks that do not call the same collective, or not with the same lengths.
//!
//! The readers of a deposit notice it. Such a program is in error, and its next collectives would take each
//! other's data, so the job ends with a sentence.

use super::call::Call;
use crate::comm::part::NodePart;
use evenkeel_spanning::CollectiveKind as Kind;

/// Ends the job: `rank`'s deposit is not of this call, but of one of another kind or length.
#[cold]
pub(crate) fn end(part: &NodePart, call: &Call, rank: usize, kind: Option<Kind>) -> ! {
    let node = part.shared.node;
    let other = node.neighbours[part.shared.local_ranks[rank]].world_rank;
    node.end(&sentence(node.me, other, (call.kind(), call.bytes), kind))
}

fn sentence(me: usize, other: usize, (mine, bytes): (Kind, usize), theirs: Option<Kind>) -> String {
    let name = |kind: Kind| kind.mpi_name().to_string_lossy();
    match theirs {
        Some(theirs) if theirs != mine => format!(
            "rank {me} is in {} where rank {other} has called {}; ending this job. All ranks of a \
             communicator must call the same collectives in the same order",
            name(mine),
            name(theirs)
        ),
        _ => format!(
            "rank {me} is in {0}{1}, and rank {other} has called it with another amount of data; ending this \
             job. Compare the counts and datatypes of both ranks in this call of {0}: as many bytes must be \
             sent as are received",
            name(mine),
            if bytes > 0 { format!(" with {bytes} bytes") } else { String::new() }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_ranks_and_calls() {
        let kinds = sentence(3, 1, (Kind::Bcast, 8), Some(Kind::Allreduce));
        assert!(
            kinds.starts_with("rank 3 is in MPI_Bcast where rank 1 has called MPI_Allreduce;"),
            "{kinds}"
        );
        let lengths = sentence(3, 1, (Kind::Bcast, 8), Some(Kind::Bcast));
        assert!(
            lengths.starts_with("rank 3 is in MPI_Bcast with 8 bytes, and rank 1 has called it with another"),
            "{lengths}"
        );
    }
}
