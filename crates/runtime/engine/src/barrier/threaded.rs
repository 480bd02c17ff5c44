//! The strict barrier of programs that may have several threads in MPI. It locks the state only briefly.

use super::last_to_enter::LastToEnter;
use crate::blocking::awaited::Awaited;
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::{NodePart, Revoked};
use crate::process::Process;
use crate::record::tally::is_sampled;

/// Enters a barrier and waits until all ranks have entered it.
#[cold]
pub(super) fn run(process: &Process, part: &NodePart) -> Result<(), Revoked> {
    let (board, node) = (&part.shared.board, part.shared.node);
    let began = node.clock().now();
    let (number, expected_ns) = part.with(|state| (state.barriers.enter(), state.expected_ns(Barrier)));
    board.enter_barrier(part.me, number, began.0);
    let is_last = part.ranks > 2 && board.count_waiting(part.me, number);
    part.shared.notify_entry(part.me, number);
    let entered = LastToEnter::default();
    let waited_ns = if is_last || entered.have_all(board, number) {
        0
    } else {
        let mut is_complete = || board.is_barrier_released(number) || entered.have_all(board, number);
        process.wait(part, &Awaited::BARRIER, expected_ns, &mut is_complete)?
    };
    part.with(|state| {
        state.barriers.known = state.barriers.known.max(number + 1);
        state.learn(Barrier, waited_ns);
        if node.recording {
            let tally = state.tallies.of(Barrier, false);
            tally.calls += 1;
            if waited_ns > 0 {
                tally.count_wait(waited_ns, entered.rank(board, number));
            }
            tally.last += u64::from(is_last);
            if is_sampled(number) {
                tally.sample(node.clock().ns_since(began), waited_ns);
            }
        }
    });
    Ok(())
}
