//! A node of the job that sends frames which are none. It is given up; the others go on.

use super::*;
use crate::memory::{Atomic, WordWrite};
use crate::tls::frame::{HEAD_BYTES, OutgoingFrame};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const ROUNDS: u64 = 150;

/// Valid frames of all kinds.
fn valid_frames(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let length = random.next_u32() as usize % 3000;
    let data: Vec<u8> = (0..length).map(|_| random.next_u32() as u8).collect();
    let flag = Some(WordWrite { at: 8, value: 1 });
    let mut frames = OutgoingFrame::of_message(b"head", data.clone().into());
    frames.extend(OutgoingFrame::of_put(64, &data, flag, 1));
    frames.push(OutgoingFrame::of_atomic(16, Atomic::Add(1), 2));
    frames.extend(OutgoingFrame::of_message(&data, bytes::Bytes::new()));
    frames.iter().flat_map(|frame| [&frame.front[..], &frame.data[..]].concat()).collect()
}

/// Changes some bytes, mostly of heads; or cuts, repeats or replaces a part.
fn mutate(random: &mut Xoshiro256PlusPlus, bytes: &mut Vec<u8>) {
    for _ in 0..=random.next_u32() % 4 {
        let at = random.next_u64() as usize % bytes.len();
        match random.next_u32() % 6 {
            0 => bytes[at] = random.next_u32() as u8,
            1 => bytes[at] ^= 1 << (random.next_u32() % 8),
            2 => bytes[at % HEAD_BYTES] = random.next_u32() as u8,
            3 => {
                bytes.drain(at..(at + 7).min(bytes.len() - 1));
            }
            4 => {
                let again = bytes[at..].to_vec();
                bytes.extend_from_slice(&again);
            }
            _ => {
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
        }
    }
}

#[test]
fn mutated_frames_of_one_node_disturb_no_other() {
    for seed in 0..ROUNDS {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut wires = job(3);
        // Node 2 is made by hand; its place is not used.
        let last = wires.pop().unwrap();
        let identity = Identity::new(&secret(), NodeId(2)).unwrap();
        let mut node =
            HandMade::connect(&mut wires, NodeId(2), &identity, NodeId(0)).expect("it has the key");
        let mut bytes = valid_frames(&mut random);
        mutate(&mut random, &mut bytes);
        let was_sent = node.send(&bytes);
        // A valid frame at the end, by which it is seen that all before has been read.
        let end = OutgoingFrame::of_message(b"the end", bytes::Bytes::new());
        let _ = was_sent && node.send(&end[0].front);
        drop(node);
        let mut is_lost = false;
        work_until(&mut wires, |wires| {
            while let Some(event) = wires[0].poll() {
                match event {
                    Event::Message { from, bytes } => {
                        assert_eq!(from, NodeId(2));
                        assert!(bytes.len() <= MAX_MESSAGE_BYTES);
                    }
                    Event::Lost { node, .. } => {
                        assert_eq!(node, NodeId(2));
                        is_lost = true;
                    }
                    Event::Completed { .. } => panic!("round {seed}: node 0 has begun nothing"),
                }
            }
            is_lost // its connection has ended in any case
        });
        assert_undisturbed(&mut wires, [0, 1]);
        drop(last);
    }
}

/// What an operation names is checked against the memory before it is carried out.
#[test]
fn operations_beyond_the_memory_end_the_connection() {
    let out_of_range = [
        OutgoingFrame::of_put(MEMORY - 2, b"abc", None, 1).remove(0),
        OutgoingFrame::of_put(usize::MAX - 1, b"abc", None, 1).remove(0),
        OutgoingFrame::of_put(0, b"abc", Some(WordWrite { at: MEMORY, value: 1 }), 1).remove(0),
        OutgoingFrame::of_put(0, b"abc", Some(WordWrite { at: 4, value: 1 }), 1).remove(0),
        OutgoingFrame::of_atomic(MEMORY, Atomic::Add(1), 1),
        OutgoingFrame::of_atomic(12, Atomic::Add(1), 1),
        OutgoingFrame::of_done(77, 0), // nothing of that name was begun
    ];
    for frame in out_of_range {
        let mut wires = job(2);
        let identity = Identity::new(&secret(), NodeId(1)).unwrap();
        let mut node =
            HandMade::connect(&mut wires, NodeId(1), &identity, NodeId(0)).expect("it has the key");
        assert!(node.send(&[&frame.front[..], &frame.data[..]].concat()));
        let mut event = None;
        work_until(&mut wires[..1], |wires| {
            event = wires[0].poll();
            event.is_some()
        });
        let Some(Event::Lost { node: NodeId(1), why }) = &event else { panic!("{frame:?}: {event:?}") };
        assert!(why.contains("an operation that does not exist"), "{frame:?}: {why}");
        assert_eq!(wires[0].memory().bytes(0, MEMORY), vec![0; MEMORY], "{frame:?}");
    }
}
