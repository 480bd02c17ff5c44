//! The receives of a rank, in the order in which it has posted them.

use evenkeel_predict::{Identifier, Site};
use evenkeel_trace::times::file::{Remark, Times};
use evenkeel_trace::times::shape::{ANY, ANY_SOURCE, ANY_TAG, Envelope, FAILED, PROC_NULL, Shape};
use std::collections::HashMap;

/// The receives of a rank.
pub(super) struct Receives {
    /// Where each was posted, and which one it is.
    pub(super) all: Vec<(Site, Identifier)>,
    /// How many different ones there are.
    pub(super) different: usize,
}

impl Receives {
    /// Those that a rank's calls have posted; receives from `MPI_PROC_NULL` are none.
    pub(super) fn of(times: &Times) -> Receives {
        let mut numbers: HashMap<(Option<u32>, Envelope), Identifier> = HashMap::new();
        let mut all = Vec::new();
        let mut post = |site: u32, comm: Option<u32>, envelope: Envelope| {
            if envelope.peer != PROC_NULL {
                let next = numbers.len() as Identifier;
                all.push((Site::from(site), *numbers.entry((comm, envelope)).or_insert(next)));
            }
        };
        for (number, call) in times.calls.iter().enumerate() {
            let shape = times.shape(call);
            if let Some(envelope) = asked(shape) {
                post(shape.site, shape.comm, envelope);
            }
            for remark in times.remarks_of(number) {
                if let Remark::Posted(comm, envelope) = remark {
                    post(shape.site, Some(*comm), *envelope);
                }
            }
        }
        Receives { all, different: numbers.len() }
    }
}

/// What a call has asked for, if it has posted a receive. The file has what a blocking one has got.
fn asked(shape: &Shape) -> Option<Envelope> {
    let mut envelope = *shape.received().filter(|_| shape.marks & FAILED == 0)?;
    if shape.marks & ANY_SOURCE != 0 {
        envelope.peer = ANY;
    }
    if shape.marks & ANY_TAG != 0 {
        envelope.tag = ANY;
    }
    Some(envelope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_trace::times::file::Call;
    use evenkeel_trace::times::shape::Role;

    #[test]
    fn receives_are_told_apart_by_what_was_asked_for() {
        let envelope = |peer, tag| Envelope { peer, tag, bytes: Some(8) };
        let receive = |peer, marks| Shape {
            site: 3,
            comm: Some(0),
            role: Role::Receive,
            marks,
            first: envelope(peer, 1),
            ..Shape::default()
        };
        let shapes = vec![
            receive(1, 0),
            receive(2, 0),
            receive(1, ANY_SOURCE),
            receive(2, ANY_SOURCE),
            receive(PROC_NULL, 0),
            receive(1, FAILED),
            Shape { role: Role::Send, ..receive(1, 0) },
            Shape { role: Role::SendReceive, second: Some(envelope(1, 1)), ..receive(5, 0) },
        ];
        let call = |shape| Call { thread: 0, shape, entry: 0, exit: 1, remarks_end: 0 };
        let mut calls: Vec<Call> = (0..shapes.len() as u32).map(call).collect();
        calls.push(Call { remarks_end: 1, ..call(6) });
        let remarks = vec![Remark::Posted(0, envelope(2, 1))];
        let receives = Receives::of(&Times { shapes, calls, remarks, ..Times::default() });
        let numbers: Vec<u64> = receives.all.iter().map(|(_, identifier)| *identifier).collect();
        assert_eq!((numbers.as_slice(), receives.different), (&[0, 1, 2, 2, 0, 1][..], 3));
    }
}
