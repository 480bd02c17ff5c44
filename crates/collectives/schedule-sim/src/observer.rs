//! What can be observed while a simulation runs.

use crate::time::VirtualTime;

/// What a rank does during a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    /// The program computes.
    Compute,
    /// The rank sends.
    Send,
    /// It receives.
    Receive,
    /// It waits.
    Wait,
    /// It combines or copies.
    Combine,
}

/// Gets a report of everything that happens, for each rank in the order of virtual time.
pub trait Observer {
    /// A rank does something from one moment to another.
    fn span(&mut self, rank: u32, activity: Activity, from: VirtualTime, to: VirtualTime);
    /// A message from one rank arrives at another.
    fn message(&mut self, from: u32, to: u32, sent: VirtualTime, arrived: VirtualTime);
}

/// Ignores everything, at no cost.
pub struct NoObserver;

impl Observer for NoObserver {
    #[inline]
    fn span(&mut self, _: u32, _: Activity, _: VirtualTime, _: VirtualTime) {}
    #[inline]
    fn message(&mut self, _: u32, _: u32, _: VirtualTime, _: VirtualTime) {}
}

/// Keeps all reports, for a diagram or a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Rank, activity, beginning, end.
    pub spans: Vec<(u32, Activity, VirtualTime, VirtualTime)>,
    /// Sender, receiver, when it was sent, when it arrived.
    pub messages: Vec<(u32, u32, VirtualTime, VirtualTime)>,
}

impl Observer for Recording {
    fn span(&mut self, rank: u32, activity: Activity, from: VirtualTime, to: VirtualTime) {
        if to > from {
            self.spans.push((rank, activity, from, to));
        }
    }
    fn message(&mut self, from: u32, to: u32, sent: VirtualTime, arrived: VirtualTime) {
        self.messages.push((from, to, sent, arrived));
    }
}

impl Recording {
    /// One line for each span and message, in the order of time.
    pub fn transcript(&self) -> String {
        let spans = self.spans.iter().map(|(rank, activity, from, to)| {
            (*from, *rank, *to, format!("rank {rank} {}", activity.name()))
        });
        let messages = self
            .messages
            .iter()
            .map(|(from, to, sent, arrived)| (*sent, *from, *arrived, format!("rank {from} to {to}")));
        let mut lines: Vec<_> = spans.chain(messages).collect();
        lines.sort();
        lines.into_iter().map(|(from, _, to, what)| format!("{from:>10} {to:>10}  {what}\n")).collect()
    }
}

impl Activity {
    /// The verb for it: `computes`.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Compute => "computes",
            Activity::Send => "sends",
            Activity::Receive => "receives",
            Activity::Wait => "waits",
            Activity::Combine => "combines",
        }
    }
}
