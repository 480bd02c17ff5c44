//! The strict barrier of programs that may have several threads in MPI. It locks the state only briefly.

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
    part.shared.notify_entry(number);
    let mut entered = 0;
    let waited_ns = if is_last || board.all_entered(number, &mut entered) {
        0
    } else {
        let mut is_complete = || board.is_barrier_released(number) || board.all_entered(number, &mut entered);
        process.wait(part, Barrier, expected_ns, &mut is_complete)?
    };
    part.with(|state| {
        state.barriers.known = state.barriers.known.max(number + 1);
        state.learn(Barrier, waited_ns);
        if node.recording {
            let tally = state.tallies.of(Barrier, false);
            tally.calls += 1;
            tally.wait_ns += waited_ns;
            tally.last += u64::from(is_last);
            if is_sampled(number) {
                tally.sample(node.clock().ns_since(began), waited_ns);
            }
        }
    });
    Ok(())
}
