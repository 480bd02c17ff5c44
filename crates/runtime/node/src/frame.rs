//! What goes over a connection between a node and a child of it.

use crate::job::{HostJob, NodeSettings, Place};
use crate::machine::{Down, Up};
use serde::{Deserialize, Serialize};

/// The longest part of a stream in one frame, bytes.
pub(crate) const LONGEST_PART: usize = 64 * 1024;

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout = 0,
    Stderr = 1,
}

impl Stream {
    pub(crate) const BOTH: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

    fn from_number(number: u8) -> Option<Stream> {
        Stream::BOTH.into_iter().find(|stream| *stream as u8 == number)
    }
}

/// What a node is to do: the first frame of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// The node's own place, and the hosts that it is to reach.
    pub places: Vec<Place>,
    /// A name that no other job has.
    pub name: String,
    pub job: HostJob,
    pub all_ranks: u32,
    /// See [`mapping`](crate::job::mapping).
    pub mapping: String,
    pub settings: NodeSettings,
    /// Whether this node's first process reads standard input.
    pub reads_input: bool,
}

/// A message between two nodes.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Assign(Box<Assignment>),
    Down(Down),
    Up(Up),
    /// What a program has written: whole lines, mostly.
    Output(Stream, Vec<u8>),
    /// So many bytes of the child's output have been passed on.
    OutputTaken(Stream, u32),
    /// No process reads this stream any more.
    OutputClosed(Stream),
    /// What the user has typed.
    Input(Vec<u8>),
    InputEnd,
    /// So many bytes of it have been taken, here and below.
    InputTaken(u32),
    /// The child lacks the file of this number.
    WantFile(u32),
    /// The next part of a file.
    FilePart(u32, Vec<u8>),
    /// The child has taken so many bytes of parts of files.
    FileTaken(u32),
    /// The child will not get this file.
    NoFile(u32),
}

const ASSIGN: u8 = 0;
const DOWN: u8 = 1;
const UP: u8 = 2;
const OUTPUT: u8 = 3;
const OUTPUT_TAKEN: u8 = 4;
const OUTPUT_CLOSED: u8 = 5;
const INPUT: u8 = 6;
const INPUT_END: u8 = 7;
const INPUT_TAKEN: u8 = 8;
const WANT_FILE: u8 = 9;
const FILE_PART: u8 = 10;
const FILE_TAKEN: u8 = 11;
const NO_FILE: u8 = 12;

impl Frame {
    pub(crate) fn encode(&self) -> Vec<u8> {
        fn json(kind: u8, value: &impl Serialize) -> Vec<u8> {
            let mut bytes = vec![kind];
            serde_json::to_writer(&mut bytes, value).expect("these values can be written as JSON");
            bytes
        }
        match self {
            Frame::Assign(assignment) => json(ASSIGN, assignment),
            Frame::Down(message) => json(DOWN, message),
            Frame::Up(message) => json(UP, message),
            Frame::Output(stream, bytes) => [&[OUTPUT, *stream as u8], &bytes[..]].concat(),
            Frame::OutputTaken(stream, count) => {
                [&[OUTPUT_TAKEN, *stream as u8], &count.to_le_bytes()[..]].concat()
            }
            Frame::OutputClosed(stream) => vec![OUTPUT_CLOSED, *stream as u8],
            Frame::Input(bytes) => [&[INPUT], &bytes[..]].concat(),
            Frame::InputEnd => vec![INPUT_END],
            Frame::InputTaken(count) => [&[INPUT_TAKEN], &count.to_le_bytes()[..]].concat(),
            Frame::WantFile(file) => [&[WANT_FILE], &file.to_le_bytes()[..]].concat(),
            Frame::FilePart(file, bytes) => [&[FILE_PART], &file.to_le_bytes()[..], &bytes[..]].concat(),
            Frame::FileTaken(count) => [&[FILE_TAKEN], &count.to_le_bytes()[..]].concat(),
            Frame::NoFile(file) => [&[NO_FILE], &file.to_le_bytes()[..]].concat(),
        }
    }

    /// None for bytes that are no frame.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Frame> {
        let (kind, rest) = bytes.split_first()?;
        let count = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_le_bytes);
        let stream = || Stream::from_number(*rest.first()?);
        Some(match *kind {
            ASSIGN => Frame::Assign(serde_json::from_slice(rest).ok()?),
            DOWN => Frame::Down(serde_json::from_slice(rest).ok()?),
            UP => Frame::Up(serde_json::from_slice(rest).ok()?),
            OUTPUT => Frame::Output(stream()?, rest[1..].to_vec()),
            OUTPUT_TAKEN => Frame::OutputTaken(stream()?, count(&rest[1..])?),
            OUTPUT_CLOSED => Frame::OutputClosed(stream()?),
            INPUT => Frame::Input(rest.to_vec()),
            INPUT_END => Frame::InputEnd,
            INPUT_TAKEN => Frame::InputTaken(count(rest)?),
            WANT_FILE => Frame::WantFile(count(rest)?),
            FILE_PART => {
                let (file, bytes) = rest.split_first_chunk::<4>()?;
                Frame::FilePart(u32::from_le_bytes(*file), bytes.to_vec())
            }
            FILE_TAKEN => Frame::FileTaken(count(rest)?),
            NO_FILE => Frame::NoFile(count(rest)?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let frames = [
            Frame::Down(Down::Start),
            Frame::Up(Up::Ready(vec!["why \u{e9}".into()])),
            Frame::Output(Stream::Stderr, b"\0\xff\n".to_vec()),
            Frame::OutputTaken(Stream::Stdout, 77),
            Frame::OutputClosed(Stream::Stdout),
            Frame::Input(Vec::new()),
            Frame::InputEnd,
            Frame::InputTaken(u32::MAX),
            Frame::WantFile(0),
            Frame::FilePart(7, vec![0, 255]),
            Frame::FilePart(7, Vec::new()),
            Frame::FileTaken(128 << 10),
            Frame::NoFile(1),
        ];
        for frame in frames {
            let read = Frame::parse(&frame.encode()).unwrap();
            assert_eq!(format!("{frame:?}"), format!("{read:?}"));
        }
    }

    #[test]
    fn random_bytes_are_no_panic() {
        let mut random = Random::new(1);
        for _ in 0..100_000 {
            let bytes: Vec<u8> = (0..random.below(12)).map(|_| (random.bits() % 15) as u8).collect();
            let _ = Frame::parse(&bytes);
        }
    }
}
