//! The part of the other nodes: they answer.

use super::coordinator::{PATIENCE, rest};
use super::message::{Head, Kind};
use crate::commands::model::measure::local::signal_memory::content;
use evenkeel_fabric::{Event, NodeId, Wire};
use std::time::{Duration, Instant};

const LEADER: NodeId = NodeId(0);
/// How long it sleeps at most between two passes.
const NAP: Duration = Duration::from_millis(20);

/// Answers node 0 until it is over, or node 0 is lost.
pub fn follow<W: Wire>(wire: &mut W, is_over: impl Fn() -> bool) {
    // During a pass: whether cores are shared, and when something was last heard, in idle looks.
    let mut pass: Option<bool> = None;
    let (mut looks, mut quiet_since) = (0_u32, None);
    while !is_over() {
        match wire.poll() {
            Some(Event::Message { from: LEADER, bytes }) => {
                (looks, quiet_since) = (0, None);
                let me = wire.node().index();
                if let Some(Head { kind: Kind::Begin, content, .. }) = Head::read(&bytes) {
                    pass = Some(content == 1);
                } else if let Some(Head { kind: Kind::End, .. }) = Head::read(&bytes) {
                    pass = None;
                }
                if answer(me, bytes).is_some_and(|answer| wire.send(LEADER, &answer).is_err()) {
                    return;
                }
            }
            Some(Event::Lost { .. }) => return,
            Some(_) => {}
            None => match pass {
                Some(share) => {
                    rest(share);
                    looks = looks.wrapping_add(1);
                    if looks % 1024 == 0 && quiet_since.get_or_insert_with(Instant::now).elapsed() > PATIENCE
                    {
                        pass = None;
                    }
                }
                None => wire.wait(NAP),
            },
        }
    }
}

/// What is said to a message of node 0, if anything.
fn answer(me: usize, mut message: Vec<u8>) -> Option<Vec<u8>> {
    let Some(head) = Head::read(&message) else {
        return Some(Head { kind: Kind::Wrong, epoch: 0, content: 0 }.bytes().to_vec());
    };
    let is_right = head.content == content(head.epoch, me);
    let say =
        |kind| Some(Head { kind, epoch: head.epoch, content: content(!head.epoch, me) }.bytes().to_vec());
    match head.kind {
        Kind::Begin => say(Kind::Ready),
        Kind::End => None,
        _ if !is_right => say(Kind::Wrong),
        Kind::Signal => say(Kind::Answer),
        Kind::Stream => None,
        Kind::StreamAnswered => say(Kind::Credit),
        Kind::Letter => {
            let head = Head { kind: Kind::Reply, ..head };
            message[..8].copy_from_slice(&head.bytes()[..8]);
            Some(message)
        }
        _ => say(Kind::Wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_meant_for_it_is_answered_well() {
        let said = |kind, content_| {
            answer(3, Head { kind, epoch: 9, content: content_ }.bytes().to_vec())
                .map(|bytes| Head::read(&bytes).unwrap().kind)
        };
        let right = content(9, 3);
        assert_eq!(said(Kind::Signal, right), Some(Kind::Answer));
        assert_eq!(said(Kind::Signal, content(9, 2)), Some(Kind::Wrong));
        assert_eq!(
            (said(Kind::Stream, right), said(Kind::StreamAnswered, right), said(Kind::Stream, 1)),
            (None, Some(Kind::Credit), Some(Kind::Wrong))
        );
        assert_eq!(
            (said(Kind::Begin, 1), said(Kind::End, 0), said(Kind::Answer, right)),
            (Some(Kind::Ready), None, Some(Kind::Wrong))
        );
        let letter = [&Head { kind: Kind::Letter, epoch: 9, content: right }.bytes()[..], &[5; 40]].concat();
        let back = answer(3, letter.clone()).unwrap();
        assert_eq!(
            (back.len(), &back[8..], Head::read(&back).unwrap().kind),
            (letter.len(), &letter[8..], Kind::Reply)
        );
    }
}
