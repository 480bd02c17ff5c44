//! Ranks that do not call the same collective, or not with the same lengths.
//!
//! The readers of a deposit notice it. Such a program is in error, and its next collectives would take each
//! other's data, so the job ends with a sentence.

use crate::comm::part::NodePart;
use evenkeel_segment::call_line;
use evenkeel_spanning::CollectiveKind as Kind;

/// Ends the job: `rank`'s deposit is not of this rank's call, which is `called` with so many bytes, but of
/// one of another kind or length.
#[cold]
pub(crate) fn end(part: &NodePart, called: Kind, bytes: usize, rank: usize, kind: Option<Kind>) -> ! {
    let node = part.shared.node;
    let place = part.shared.local_ranks[rank];
    let differ = kind.is_some_and(|kind| kind != called);
    let of = |place: usize, kind: Option<Kind>, bytes: usize| Deposit {
        rank: node.neighbours[place].world_rank,
        kind,
        bytes,
        // Its record is gathered; what else it has brought was called before it came to MPI_Finalize.
        finalizes: differ
            && matches!(kind, Some(Kind::Gather | Kind::Gatherv))
            && call_line::is_finalizing(&node.segment, place),
    };
    node.end(&sentence(&of(node.local_rank, Some(called), bytes), &of(place, kind, 0)))
}

/// What a rank has brought to a collective.
struct Deposit {
    rank: usize,
    kind: Option<Kind>,
    bytes: usize,
    /// It was brought by MPI_Finalize, in which the ranks gather what they have recorded.
    finalizes: bool,
}

impl Deposit {
    fn function(&self) -> Option<String> {
        let of_kind = self.kind.map(|kind| kind.mpi_name().to_string_lossy().into_owned());
        if self.finalizes { Some("MPI_Finalize".into()) } else { of_kind }
    }
}

fn sentence(mine: &Deposit, theirs: &Deposit) -> String {
    let (me, other, name) = (mine.rank, theirs.rank, mine.function().unwrap_or_default());
    match theirs.function() {
        Some(function) if function != name => format!(
            "rank {me} is in {name} where rank {other} has called {function}; ending this job. All ranks of \
             a communicator must call the same collectives in the same order"
        ),
        _ => format!(
            "rank {me} is in {name}{}, and rank {other} has called it with another amount of data; ending \
             this job. Compare the counts and datatypes of both ranks in this call of {name}: as many bytes \
             must be sent as are received",
            if mine.bytes > 0 { format!(" with {} bytes", mine.bytes) } else { String::new() }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_ranks_and_calls() {
        let of = |rank, kind, finalizes| Deposit { rank, kind: Some(kind), bytes: 8, finalizes };
        let kinds = sentence(&of(3, Kind::Bcast, false), &of(1, Kind::Allreduce, false));
        assert!(
            kinds.starts_with("rank 3 is in MPI_Bcast where rank 1 has called MPI_Allreduce;"),
            "{kinds}"
        );
        let lengths = sentence(&of(3, Kind::Bcast, false), &of(1, Kind::Bcast, false));
        assert!(
            lengths.starts_with("rank 3 is in MPI_Bcast with 8 bytes, and rank 1 has called it with another"),
            "{lengths}"
        );
        let end = sentence(&of(3, Kind::Bcast, false), &of(1, Kind::Gather, true));
        assert!(end.starts_with("rank 3 is in MPI_Bcast where rank 1 has called MPI_Finalize;"), "{end}");
    }
}
