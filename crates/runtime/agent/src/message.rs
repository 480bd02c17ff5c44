//! What agents tell each other, and how it travels: a header of fixed length, and data.
//!
//! A message may overtake another one between the same two agents: small messages come at once, large ones
//! are fetched by their receiver.
//!
//! The header, in bytes, little-endian; what a message does not need is 0:
//!
//! ```text
//! 0 job | 8 kind | 9 stream | 10 turn | 12 flag | 16 communicator | 24 number | 32 place | 36 unused | 40
//! ```

use bytes::Bytes;
use evenkeel_schedule::{Buffer, Flag, Place};
use evenkeel_spanning::PieceDescription;
use thiserror::Error;

/// Length of a header.
pub const HEADER_BYTES: usize = 40;
/// Length of the description that precedes the data of a forwarded step.
const DESCRIPTION_BYTES: usize = 16;

/// One of a communicator's two call streams. Collectives are numbered in each of them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stream {
    /// Blocking collectives.
    Blocking = 0,
    /// Nonblocking collectives.
    Nonblocking = 1,
}

/// A rank of the job that has died, and when its node's agent was told so by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Death {
    /// Its rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Time of the day in nanoseconds.
    pub seen_ns: u64,
}

/// A message between two agents of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Asks for a sign of life.
    Ping,
    /// Gives one.
    Pong,
    /// A rank on the sender's node has died, and the sender knew of no other death. The receiver tells of
    /// the deaths on its own node, and then answers.
    RankDied(Death),
    /// The answer: the sender knows of no earlier death that it has not told of.
    DeathHeard,
    /// The agents have agreed which rank died first, by its number in MPI_COMM_WORLD.
    FirstDeath(u32),
    /// The sender leaves because its ranks have ended. It is not lost.
    Leaving,
    /// Something about one communicator.
    OfCommunicator {
        /// The job's name for it.
        communicator: u64,
        /// What.
        content: Content,
    },
}

/// What a message says about a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// How many barriers a part of the nodes has entered.
    Barriers(Count),
    /// How many collectives of a stream a part of the nodes has begun.
    Begun(Stream, Count),
    /// A member has revoked it.
    Revoked,
    /// Asks what the receiver's node has said in a collective that ranks carry themselves.
    Question(u64),
    /// The ranks of the sender's node have finished all such collectives below a number.
    Credit(u64),
    /// What the sender's node has said in such a collective.
    Statement {
        /// The number of the collective.
        number: u64,
        /// As in a datagram.
        data: Bytes,
    },
    /// A step of a collective's schedule.
    Step {
        /// The stream that the collective belongs to.
        stream: Stream,
        /// Its number there.
        number: u64,
        /// What the collective is, for a receiver that forwards what it gets: it need not wait until its own
        /// ranks have called it.
        description: Option<PieceDescription>,
        /// The step.
        step: StepMessage,
    },
}

/// A count that only grows, of a part of the nodes ([`crate::communicator::global_minimum`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Which part.
    pub slot: u32,
    /// The count.
    pub count: u64,
}

/// A step of a schedule, as its receiver sees it: data for a place in one of its buffers, and a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepMessage {
    /// The flag that is raised.
    pub flag: Flag,
    /// Which use of the flag.
    pub turn: u16,
    /// Where the data go.
    pub place: Place,
    /// The data; they may be empty.
    pub data: Bytes,
}

/// A message for one node of a communicator, to be sent with that communicator's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Which of the communicator's nodes.
    pub to: usize,
    /// What.
    pub content: Content,
}

/// A message as it is sent: a header, and data that need not be copied behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedMessage {
    /// The header, and the description of a forwarded step.
    pub header: Vec<u8>,
    /// The data.
    pub data: Bytes,
}

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MessageError {
    /// They come from elsewhere.
    #[error("they are not a message of this job")]
    Foreign,
    /// The sender knows collectives that this agent does not.
    #[error("they are a step of a collective that this agent does not know")]
    UnknownCollective,
}

/// What a header says the message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Barriers = 1,
    Step = 2,
    Ping = 3,
    Pong = 4,
    Revoked = 5,
    RankDied = 6,
    Begun = 7,
    ForwardedStep = 8,
    DeathHeard = 9,
    FirstDeath = 10,
    Leaving = 11,
    Question = 12,
    Credit = 13,
    Statement = 14,
}

impl Kind {
    const ALL: [Kind; 14] = [
        Kind::Barriers,
        Kind::Step,
        Kind::Ping,
        Kind::Pong,
        Kind::Revoked,
        Kind::RankDied,
        Kind::Begun,
        Kind::ForwardedStep,
        Kind::DeathHeard,
        Kind::FirstDeath,
        Kind::Leaving,
        Kind::Question,
        Kind::Credit,
        Kind::Statement,
    ];
}

#[derive(Clone, Copy, Debug)]
struct Header {
    kind: Kind,
    stream: Stream,
    turn: u16,
    flag: u32,
    communicator: u64,
    number: u64,
    place: u32,
}

impl Header {
    fn new(kind: Kind) -> Header {
        Header { kind, stream: Stream::Blocking, turn: 0, flag: 0, communicator: 0, number: 0, place: 0 }
    }

    /// A message without data.
    fn alone(self, job: u64) -> EncodedMessage {
        EncodedMessage { header: self.to_bytes(job, 0), data: Bytes::new() }
    }

    fn to_bytes(self, job: u64, room_behind: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + room_behind);
        bytes.extend_from_slice(&job.to_le_bytes());
        bytes.extend_from_slice(&[self.kind as u8, self.stream as u8]);
        bytes.extend_from_slice(&self.turn.to_le_bytes());
        bytes.extend_from_slice(&self.flag.to_le_bytes());
        bytes.extend_from_slice(&self.communicator.to_le_bytes());
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.place.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes
    }

    /// The header of a message of this job; None if it is none.
    fn from_bytes(bytes: &[u8], job: u64) -> Option<Header> {
        let (header, _) = bytes.split_at_checked(HEADER_BYTES)?;
        let eight = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let four = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        // First of all, and as one comparison of two words: it takes as long wherever they differ.
        let is_of_job = eight(0) == job;
        let kind = Kind::ALL.into_iter().find(|kind| is_of_job && *kind as u8 == header[8])?;
        Some(Header {
            kind,
            stream: if header[9] == 0 { Stream::Blocking } else { Stream::Nonblocking },
            turn: u16::from_le_bytes([header[10], header[11]]),
            flag: four(12),
            communicator: eight(16),
            number: eight(24),
            place: four(32),
        })
    }
}

impl Message {
    /// The message as it is sent to another agent of this job.
    pub fn encode(self, job: u64) -> EncodedMessage {
        let alone = |header: Header| header.alone(job);
        match self {
            Message::Ping => alone(Header::new(Kind::Ping)),
            Message::Pong => alone(Header::new(Kind::Pong)),
            Message::RankDied(Death { rank, seen_ns }) => {
                alone(Header { flag: rank, number: seen_ns, ..Header::new(Kind::RankDied) })
            }
            Message::DeathHeard => alone(Header::new(Kind::DeathHeard)),
            Message::FirstDeath(rank) => alone(Header { flag: rank, ..Header::new(Kind::FirstDeath) }),
            Message::Leaving => alone(Header::new(Kind::Leaving)),
            Message::OfCommunicator { communicator, content } => content.encode(job, communicator),
        }
    }

    /// The message that another agent of this job has sent.
    ///
    /// # Errors
    /// If it is none, or if this agent cannot know what to do with it.
    pub fn decode(bytes: &Bytes, job: u64) -> Result<Message, MessageError> {
        let header = Header::from_bytes(bytes, job).ok_or(MessageError::Foreign)?;
        let Header { stream, flag, communicator, number, .. } = header;
        let count = Count { slot: flag, count: number };
        let content = match header.kind {
            Kind::Ping => return Ok(Message::Ping),
            Kind::Pong => return Ok(Message::Pong),
            Kind::RankDied => return Ok(Message::RankDied(Death { rank: flag, seen_ns: number })),
            Kind::DeathHeard => return Ok(Message::DeathHeard),
            Kind::FirstDeath => return Ok(Message::FirstDeath(flag)),
            Kind::Leaving => return Ok(Message::Leaving),
            Kind::Barriers => Content::Barriers(count),
            Kind::Begun => Content::Begun(stream, count),
            Kind::Revoked => Content::Revoked,
            Kind::Question => Content::Question(number),
            Kind::Credit => Content::Credit(number),
            Kind::Statement => Content::Statement { number, data: bytes.slice(HEADER_BYTES..) },
            Kind::Step | Kind::ForwardedStep => {
                let (description, data) = if header.kind == Kind::ForwardedStep {
                    let (description, data) = described(&bytes.slice(HEADER_BYTES..))?;
                    (Some(description), data)
                } else {
                    (None, bytes.slice(HEADER_BYTES..))
                };
                let place = place_from_number(header.place);
                let step = StepMessage { flag: Flag(flag), turn: header.turn, place, data };
                Content::Step { stream, number, description, step }
            }
        };
        Ok(Message::OfCommunicator { communicator, content })
    }
}

impl Content {
    fn encode(self, job: u64, communicator: u64) -> EncodedMessage {
        let of = |kind| Header { communicator, ..Header::new(kind) };
        let counted = |header: Header, Count { slot, count }: Count| {
            Header { flag: slot, number: count, ..header }.alone(job)
        };
        match self {
            Content::Barriers(count) => counted(of(Kind::Barriers), count),
            Content::Begun(stream, count) => counted(Header { stream, ..of(Kind::Begun) }, count),
            Content::Revoked => of(Kind::Revoked).alone(job),
            Content::Question(number) => Header { number, ..of(Kind::Question) }.alone(job),
            Content::Credit(number) => Header { number, ..of(Kind::Credit) }.alone(job),
            Content::Statement { number, data } => {
                EncodedMessage { data, ..Header { number, ..of(Kind::Statement) }.alone(job) }
            }
            Content::Step { stream, number, description, step } => {
                let StepMessage { flag, turn, place, data } = step;
                let kind = if description.is_some() { Kind::ForwardedStep } else { Kind::Step };
                let place = place_to_number(place);
                let header = Header { stream, number, flag: flag.0, turn, place, ..of(kind) };
                let mut header = header.to_bytes(job, DESCRIPTION_BYTES);
                for word in description.into_iter().flat_map(PieceDescription::to_words) {
                    header.extend_from_slice(&word.to_le_bytes());
                }
                EncodedMessage { header, data }
            }
        }
    }
}

fn place_to_number(place: Place) -> u32 {
    (place.buffer() as u32) << 30 | place.element()
}

fn place_from_number(number: u32) -> Place {
    let buffer = [Buffer::Input, Buffer::Output, Buffer::Scratch, Buffer::Scratch][(number >> 30) as usize];
    Place::new(buffer, number % Place::MAX_ELEMENTS)
}

/// Description and data of a forwarded step.
fn described(bytes: &Bytes) -> Result<(PieceDescription, Bytes), MessageError> {
    let word = |at: usize| {
        let word = bytes.get(at..at + 8).ok_or(MessageError::UnknownCollective)?;
        Ok(u64::from_le_bytes(word.try_into().expect("eight bytes")))
    };
    let description = PieceDescription::from_words([word(0)?, word(8)?]);
    Ok((description.ok_or(MessageError::UnknownCollective)?, bytes.slice(DESCRIPTION_BYTES..)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_spanning::{CollectiveKind, Location};

    const JOB: u64 = 1 << 63;

    fn arrived(message: &Message) -> Bytes {
        let EncodedMessage { header, data } = message.clone().encode(JOB);
        [header, data.to_vec()].concat().into()
    }

    fn step(description: Option<PieceDescription>) -> Message {
        let data = Bytes::from_static(b"data");
        let step =
            StepMessage { flag: Flag(9), turn: 7, place: Place::scratch(Place::MAX_ELEMENTS - 1), data };
        let content = Content::Step { stream: Stream::Nonblocking, number: 13, description, step };
        Message::OfCommunicator { communicator: 11, content }
    }

    fn forwarded() -> PieceDescription {
        let root = Location { node: 3, local_rank: 1 };
        PieceDescription { kind: CollectiveKind::Bcast, root, bytes: 65536, operator: 0 }
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let of = |content| Message::OfCommunicator { communicator: 1 << 63 | 5, content };
        let count = Count { slot: 3, count: u64::MAX };
        for message in [
            Message::Ping,
            Message::Pong,
            Message::RankDied(Death { rank: u32::MAX, seen_ns: u64::MAX - 1 }),
            Message::DeathHeard,
            Message::FirstDeath(7),
            Message::Leaving,
            of(Content::Barriers(count)),
            of(Content::Begun(Stream::Blocking, count)),
            of(Content::Begun(Stream::Nonblocking, count)),
            of(Content::Revoked),
            of(Content::Question(u64::MAX)),
            of(Content::Credit(1 << 40)),
            of(Content::Statement { number: 5, data: Bytes::from_static(b"four and") }),
            step(None),
            step(Some(forwarded())),
        ] {
            assert_eq!(Message::decode(&arrived(&message), JOB), Ok(message));
        }
    }

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for place in [Place::input(0), Place::output(7), Place::scratch(Place::MAX_ELEMENTS - 1)] {
            assert_eq!(place_from_number(place_to_number(place)), place);
        }
    }

    #[test]
    fn what_is_not_of_the_job_is_refused() {
        let foreign = Err(MessageError::Foreign);
        assert_eq!(Message::decode(&arrived(&Message::Ping), JOB + 1), foreign);
        assert_eq!(Message::decode(&Bytes::from_static(&[0; HEADER_BYTES]), 0), foreign, "no such kind");
        assert_eq!(Message::decode(&Bytes::from_static(b"short"), JOB), foreign);
    }

    #[test]
    fn a_forwarded_step_without_a_known_collective_is_refused() {
        let whole = arrived(&step(Some(forwarded())));
        let unknown = Err(MessageError::UnknownCollective);
        assert_eq!(Message::decode(&whole.slice(..HEADER_BYTES + DESCRIPTION_BYTES - 1), JOB), unknown);
        let mut other = whole.to_vec();
        other[HEADER_BYTES] = 0xff;
        assert_eq!(Message::decode(&other.into(), JOB), unknown);
    }
}
