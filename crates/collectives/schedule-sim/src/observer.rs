//! What can be looked at while a simulation runs.

use crate::time::Time;

/// What a rank does during a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doing {
    Compute,
    Send,
    Receive,
    Wait,
    /// Combines or copies.
    Combine,
}

/// Is told everything, in the order of virtual time for each rank.
pub trait Watch {
    fn span(&mut self, rank: u32, doing: Doing, from: Time, to: Time);
    fn message(&mut self, from: u32, to: u32, sent: Time, arrived: Time);
}

/// Looks at nothing, and costs nothing.
pub struct Nobody;

impl Watch for Nobody {
    #[inline]
    fn span(&mut self, _: u32, _: Doing, _: Time, _: Time) {}
    #[inline]
    fn message(&mut self, _: u32, _: u32, _: Time, _: Time) {}
}

/// Keeps everything, for a picture or a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    pub spans: Vec<(u32, Doing, Time, Time)>,
    /// From, to, sent, arrived.
    pub messages: Vec<(u32, u32, Time, Time)>,
}

impl Watch for Recording {
    fn span(&mut self, rank: u32, doing: Doing, from: Time, to: Time) {
        if to > from {
            self.spans.push((rank, doing, from, to));
        }
    }
    fn message(&mut self, from: u32, to: u32, sent: Time, arrived: Time) {
        self.messages.push((from, to, sent, arrived));
    }
}

impl Recording {
    /// A line for each span and message, in order of time: what ranks did when.
    pub fn transcript(&self) -> String {
        let spans = self
            .spans
            .iter()
            .map(|(rank, doing, from, to)| (*from, *rank, *to, format!("rank {rank} {}", doing.name())));
        let messages = self
            .messages
            .iter()
            .map(|(from, to, sent, arrived)| (*sent, *from, *arrived, format!("rank {from} to {to}")));
        let mut lines: Vec<_> = spans.chain(messages).collect();
        lines.sort();
        lines.into_iter().map(|(from, _, to, what)| format!("{from:>10} {to:>10}  {what}\n")).collect()
    }
}

impl Doing {
    pub fn name(self) -> &'static str {
        match self {
            Doing::Compute => "computes",
            Doing::Send => "sends",
            Doing::Receive => "receives",
            Doing::Wait => "waits",
            Doing::Combine => "combines",
        }
    }
}
