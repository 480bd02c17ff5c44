//! Traces that are written by hand.

use evenkeel_trace::format::Ending;
use evenkeel_trace::times::file::{Call, Comm, OpenCall, Remark, Site, Times};
use evenkeel_trace::times::format::{Live, Moment, Start};
use evenkeel_trace::times::shape::{Envelope, NO_PEER, NO_TAG, Role, Shape};

/// A call: function, role, peer or root (-2: none), tag, begin, end.
pub type Written = (&'static str, Role, i32, i32, u64, u64);

/// The file of a rank, whose calls are in `MPI_COMM_WORLD`.
pub fn rank(rank: u32, ranks: u32, calls: &[Written]) -> Times {
    let before_init = Moment { ticks: 0, ns: 0 };
    let start = Start { ranks, rank, before_init, host_name: "here".into(), ..Start::default() };
    let live = Live { calls: calls.len() as u64, ending: Ending::Finalized, ..Live::default() };
    let world = Comm { members: (0..ranks as i32).collect(), ..Comm::default() };
    let alone = Comm { members: vec![rank as i32], ..Comm::default() };
    let mut times = Times { start, live, comms: vec![world, alone], ..Times::default() };
    times.sites.push(Site { module: None, offset: 0x1000 });
    for &call in calls {
        push(&mut times, 0, call, &[]);
    }
    times
}

/// One more call, of a thread, which has completed these: number of the posted receive, source, tag.
pub fn push(times: &mut Times, thread: u32, call: Written, took: &[(u64, i32, i32)]) {
    let (name, role, peer, tag, begin, end) = call;
    let known = times.functions.iter().position(|function| function == name);
    let function = known.unwrap_or_else(|| {
        times.functions.push(name.into());
        times.functions.len() - 1
    });
    let tag = if role == Role::Collective { NO_TAG } else { tag };
    let first = Envelope { peer, tag, bytes: (peer != NO_PEER).then_some(8) };
    for &(posted, peer, tag) in took {
        times.remarks.push(Remark::Took(posted, Envelope { peer, tag, bytes: Some(8) }));
    }
    let comm = (role != Role::Other).then_some(0);
    let shape = times.shapes.len() as u32;
    times.shapes.push(Shape { function: function as u32, comm, role, first, ..Shape::default() });
    let remarks_end = times.remarks.len() as u32;
    times.calls.push(Call { thread, shape, entry: begin, exit: end, remarks_end });
}

/// The rank was killed in this call.
pub fn kill(times: &mut Times, name: &str, entry: u64) {
    times.live.ending = Ending::Open;
    times.open = Some(OpenCall { entry, name: name.into(), peer: 0, tag: 7 });
}
