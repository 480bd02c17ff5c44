//! Segments follow each other down a tree.

use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank, Step};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-pipelined",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "The vector travels down a tree in segments; each rank has buffers for its parent, and each \
            free buffer is a credit to send.",
    source: "after Buntinas, Panda, Duato, Sadayappan 2000 (CANPC), with a rule that prevents deadlock",
    cost: "about (depth + segments - 1)·(L + 2o + M·G·arity/segments)",
    parameters: &[
        Parameter {
            name: "segments",
            default: 4,
            min: 1,
            max: 1 << 14,
            choices: &[],
            about: "into how many segments the vector is cut",
        },
        Parameter {
            name: "arity",
            default: 1,
            min: 1,
            max: 1 << 10,
            choices: &[],
            about: "children of a rank; 1 makes a chain",
        },
        Parameter {
            name: "buffers",
            default: 2,
            min: 1,
            max: 1 << 10,
            choices: &[],
            about: "segments that a rank can buffer for its parent",
        },
    ],
    resources: |problem| {
        let [segments, arity, buffers, _] = problem.values;
        let segment = problem.elements.div_ceil(segments);
        Resources {
            turns: segments.div_ceil(buffers) as u16,
            ..Resources::flags(segments, buffers + arity * buffers)
                .and_scratch(u64::from(buffers) * u64::from(segment))
        }
    },
    round,
};

/// One segment.
///
/// This cannot deadlock. A rank returns a buffer as soon as it has copied the segment out of it, before
/// it asks its children for buffers. So whether a rank ever gets a credit depends only on its child and
/// that child's subtree, and leaves ask no rank. The buffers belong to this broadcast alone, so
/// broadcasts with other roots cannot close a cycle. One bank is enough, because the credits cover the
/// next epoch too.
fn round(problem: &Problem, rank: Rank, segment: u32, out: &mut Round) {
    let [segments, arity, buffers, _] = problem.values;
    let me = problem.from_root(rank);
    let (begin, end) = (problem.part(segment, segments), problem.part(segment + 1, segments));
    let (buffer, turn) = turn(segment, segments, buffers);
    let at = Place::scratch(buffer * problem.elements.div_ceil(segments));
    let credit = |child: u32| Flag(buffers + child * buffers + buffer);
    if me > 0 {
        out.wait_turn(Flag(buffer), turn);
        out.copy(at, Place::output(begin), end - begin);
        out.put_turn(problem.to_rank((me - 1) / arity), credit((me - 1) % arity), turn);
    }
    let from = if me == 0 { Place::input(begin) } else { Place::output(begin) };
    for child in 0..arity {
        let to = u64::from(me) * u64::from(arity) + u64::from(child) + 1;
        if to < problem.ranks.into() {
            // The first segment in a buffer needs the credit for the last segment of the previous epoch.
            out.wait_turn(credit(child), if segment < buffers { 0 } else { turn - 1 });
            out.push(Step::Send {
                to: problem.to_rank(to as u32),
                flag: Flag(buffer),
                turn,
                is_repeat: false,
                from,
                at,
                length: end - begin,
            });
        }
    }
}

/// The buffer that a segment goes through, and its turn there. The last turn of each buffer has the
/// highest number, so the next epoch knows what to wait for even if some buffers are used less often.
fn turn(segment: u32, segments: u32, buffers: u32) -> (u32, u16) {
    let buffer = segment % buffers;
    let uses = (segments - buffer).div_ceil(buffers);
    (buffer, (segments.div_ceil(buffers) - uses + segment / buffers + 1) as u16)
}
