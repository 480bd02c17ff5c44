//! What programs write, on its way to the client. Pure.
//!
//! A node may send so much to its parent, and no more before that has been passed on: its [`WINDOW`]. What it
//! may not send yet it keeps, and it gives its children no further window meanwhile, and reads no more from
//! the programs. So a reader that stands still holds up the programs, as it would on one host, and a node
//! needs memory for a window of each child and stream.

use crate::frame::{LONGEST_PART, Stream};
use std::collections::VecDeque;

/// How much of one stream a node may have sent that has not been passed on, bytes.
pub(crate) const WINDOW: usize = 256 * 1024;

/// Who has written something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A program on this host.
    Own,
    /// A node below.
    Child(usize),
}

#[derive(Debug, Default)]
struct OneStream {
    queue: VecDeque<(Source, Vec<u8>)>,
    /// Bytes of programs here in the queue.
    own: usize,
    /// Bytes that were sent and have not been passed on.
    sent: usize,
}

/// A part that may be sent to the parent, and whose it is.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    pub stream: Stream,
    pub source: Source,
    pub bytes: Vec<u8>,
}

/// The output that waits in one node, other than the client.
#[derive(Debug, Default)]
pub(crate) struct Output {
    streams: [OneStream; 2],
}

impl Output {
    /// Adds what has been written. It leaves in this order.
    pub(crate) fn add(&mut self, stream: Stream, source: Source, bytes: Vec<u8>) {
        let one = &mut self.streams[stream as usize];
        if source == Source::Own {
            one.own += bytes.len();
            // Cut where lines end if there is an end: a part leaves as a whole.
            let mut rest = &bytes[..];
            while rest.len() > LONGEST_PART {
                let end = rest[..LONGEST_PART].iter().rposition(|byte| *byte == b'\n');
                let (part, behind) = rest.split_at(end.map_or(LONGEST_PART, |end| end + 1));
                one.queue.push_back((source, part.to_vec()));
                rest = behind;
            }
            one.queue.push_back((source, rest.to_vec()));
        } else {
            one.queue.push_back((source, bytes));
        }
    }

    /// Whether more may be read from the programs here.
    pub(crate) fn has_room(&self, stream: Stream) -> bool {
        self.streams[stream as usize].own < WINDOW
    }

    /// The parent has passed on so many bytes.
    pub(crate) fn taken(&mut self, stream: Stream, bytes: usize) {
        let sent = &mut self.streams[stream as usize].sent;
        *sent = sent.saturating_sub(bytes);
    }

    /// What may be sent next, if anything.
    pub(crate) fn next(&mut self) -> Option<Part> {
        for stream in Stream::BOTH {
            let one = &mut self.streams[stream as usize];
            let fits = one.queue.front().is_some_and(|(_, bytes)| one.sent + bytes.len() <= WINDOW);
            if fits && let Some((source, bytes)) = one.queue.pop_front() {
                one.sent += bytes.len();
                if source == Source::Own {
                    one.own -= bytes.len();
                }
                return Some(Part { stream, source, bytes });
            }
        }
        None
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.streams.iter().all(|one| one.queue.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    /// A chain of nodes with programs on each, and a reader that is slow or stops for long: nothing is lost,
    /// lines stay whole and in order, and no node keeps more than a window of each child and its own.
    #[test]
    fn memory_is_bounded_beside_a_slow_reader_and_nothing_is_lost() {
        const NODES: usize = 4;
        for seed in 0..2 {
            let mut random = Random::new(seed);
            let mut nodes: Vec<Output> = (0..NODES).map(|_| Output::default()).collect();
            let mut written = [0u32; NODES];
            let (mut read, mut waiting) = (vec![0u32; NODES], VecDeque::new());
            for step in 0..4000 {
                let node = random.below(NODES);
                if nodes[node].has_room(Stream::Stdout) && step < 3000 {
                    let lines: Vec<String> = (0..1 + random.below(2000))
                        .map(|_| {
                            written[node] += 1;
                            format!("{node} {}\n", written[node])
                        })
                        .collect();
                    nodes[node].add(Stream::Stdout, Source::Own, lines.concat().into_bytes());
                }
                // Node 0 is the client's child, and each further one a child of the one before.
                for node in 0..NODES {
                    while let Some(part) = nodes[node].next() {
                        if let Source::Child(_) = part.source {
                            nodes[node + 1].taken(Stream::Stdout, part.bytes.len());
                        }
                        match node {
                            0 => waiting.push_back(part.bytes),
                            _ => nodes[node - 1].add(Stream::Stdout, Source::Child(0), part.bytes),
                        }
                    }
                    let kept: usize = nodes[node].streams[0].queue.iter().map(|(_, bytes)| bytes.len()).sum();
                    assert!(kept <= 2 * WINDOW + 2000 * 12, "node {node} keeps {kept} bytes");
                }
                let is_slow = (step / 500) % 2 == 0 && step < 3000;
                if is_slow && random.below(50) > 0 {
                    continue;
                }
                if let Some(bytes) = waiting.pop_front() {
                    nodes[0].taken(Stream::Stdout, bytes.len());
                    for line in String::from_utf8(bytes).unwrap().lines() {
                        let (node, number) = line.split_once(' ').expect("the line is whole");
                        let node: usize = node.parse().unwrap();
                        read[node] += 1;
                        assert_eq!(number.parse(), Ok(read[node]), "in order");
                    }
                }
            }
            assert_eq!(read, written, "all of it");
            assert!(nodes.iter().all(Output::is_empty));
        }
    }
}
