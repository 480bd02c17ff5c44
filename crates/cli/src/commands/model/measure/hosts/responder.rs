//! What nodes other than node 0 do: they answer it.

use super::super::signal::content;
use super::message::{Header, MessageKind};
use super::node_pass::{PATIENCE, pause};
use evenkeel_fabric::{Event, NodeId, Wire};
use std::time::{Duration, Instant};

const COORDINATOR: NodeId = NodeId(0);
/// How long it sleeps at most between two passes.
const NAP: Duration = Duration::from_millis(20);

/// Answers node 0 until the measurement is over, or node 0 is lost.
pub fn respond<W: Wire>(wire: &mut W, is_over: impl Fn() -> bool) {
    // During a pass: whether cores are shared.
    let mut pass: Option<bool> = None;
    let (mut idle_polls, mut quiet_since) = (0_u32, None);
    while !is_over() {
        match wire.poll() {
            Some(Event::Message { from: COORDINATOR, bytes }) => {
                (idle_polls, quiet_since) = (0, None);
                match Header::read(&bytes) {
                    Some(Header { kind: MessageKind::Begin, content, .. }) => pass = Some(content == 1),
                    Some(Header { kind: MessageKind::End, .. }) => pass = None,
                    _ => {}
                }
                let answer = answer(wire.node().index(), bytes);
                if answer.is_some_and(|answer| wire.send(COORDINATOR, &answer).is_err()) {
                    return;
                }
            }
            Some(Event::Lost { .. }) => return,
            Some(_) => {}
            None => match pass {
                None => wire.wait(NAP),
                Some(shares_cores) => {
                    pause(shares_cores);
                    idle_polls = idle_polls.wrapping_add(1);
                    // Reading the clock after each poll would take too long.
                    let is_quiet = idle_polls % 1024 == 0
                        && quiet_since.get_or_insert_with(Instant::now).elapsed() > PATIENCE;
                    pass = pass.filter(|_| !is_quiet);
                }
            },
        }
    }
}

/// The answer to a message of node 0, if it has one.
fn answer(own_number: usize, mut message: Vec<u8>) -> Option<Vec<u8>> {
    let Some(header) = Header::read(&message) else {
        return Some(Header { kind: MessageKind::Wrong, epoch: 0, content: 0 }.bytes().to_vec());
    };
    let is_right = header.content == content(header.epoch, own_number);
    let short = |kind| {
        let content = content(!header.epoch, own_number);
        Some(Header { kind, epoch: header.epoch, content }.bytes().to_vec())
    };
    match header.kind {
        MessageKind::Begin => short(MessageKind::Ready),
        MessageKind::End => None,
        _ if !is_right => short(MessageKind::Wrong),
        MessageKind::Signal => short(MessageKind::Answer),
        MessageKind::Stream => None,
        MessageKind::StreamToReport => short(MessageKind::Credit),
        MessageKind::Message => {
            let header = Header { kind: MessageKind::Returned, ..header };
            message[..8].copy_from_slice(&header.bytes()[..8]);
            Some(message)
        }
        _ => short(MessageKind::Wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_for_another_node_is_answered_as_wrong() {
        let kind_of_answer = |kind, content| {
            let message = Header { kind, epoch: 9, content }.bytes().to_vec();
            answer(3, message).map(|bytes| Header::read(&bytes).unwrap().kind)
        };
        let right = content(9, 3);
        assert_eq!(kind_of_answer(MessageKind::Signal, right), Some(MessageKind::Answer));
        assert_eq!(kind_of_answer(MessageKind::Signal, content(9, 2)), Some(MessageKind::Wrong));
        assert_eq!(kind_of_answer(MessageKind::Stream, right), None);
        assert_eq!(kind_of_answer(MessageKind::StreamToReport, right), Some(MessageKind::Credit));
        assert_eq!(kind_of_answer(MessageKind::Stream, 1), Some(MessageKind::Wrong));
        assert_eq!(kind_of_answer(MessageKind::Begin, 1), Some(MessageKind::Ready));
        assert_eq!(kind_of_answer(MessageKind::End, 0), None);
        assert_eq!(kind_of_answer(MessageKind::Answer, right), Some(MessageKind::Wrong));
        let header = Header { kind: MessageKind::Message, epoch: 9, content: right };
        let message = [&header.bytes()[..], &[5; 40]].concat();
        let back = answer(3, message.clone()).unwrap();
        assert_eq!((back.len(), &back[8..]), (message.len(), &message[8..]));
        assert_eq!(Header::read(&back).unwrap().kind, MessageKind::Returned);
    }
}
