//! Whether a message of the MPI library's may be under way that could free a rank that waits for one.
//!
//! Every rank counts the messages that it has begun to send, before it sends them, and those that it has
//! received, afterwards. If the numbers of all ranks are the same at both looks, and as many messages have
//! been received as have been sent, then none was under way at the moment between the looks. Messages of
//! blocking sends that have not returned are apart: their senders and receivers are known.

use super::observation::{Observation, RankView};
use super::rank::{Call, Peer, Tag};

/// Why it is not known that nothing is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Something else than messages may end a wait.
    Unprovable,
    /// Some ranks are on other machines.
    OtherMachines,
    /// Messages are sent and received, or ranks end.
    Changing,
    /// The numbers do not hold all messages.
    Uncountable,
    /// Nonblocking sends or receives are not complete.
    Pending,
    /// A message has been sent and not been received.
    UnderWay,
}

impl Doubt {
    /// As the end of a sentence: `not proved, because …`.
    pub fn reason(self) -> &'static str {
        match self {
            Doubt::Unprovable => {
                "another thread of a rank may do what the rank waits for, or the library reports failures \
                 to the program"
            }
            Doubt::OtherMachines => "some ranks are on other machines, and their messages are not seen here",
            Doubt::Changing => "other ranks send and receive messages",
            Doubt::Uncountable => {
                "the job uses what evenkeel cannot count the messages of (persistent or cancelled requests, \
                 nonblocking collectives, deferred barriers, or other worlds)"
            }
            Doubt::Pending => "nonblocking sends or receives are not complete",
            Doubt::UnderWay => "a message has been sent that no rank has received",
        }
    }
}

/// Functions that return when their message has been received, or may be before.
fn is_blocking_send(call: &Call) -> bool {
    matches!(call.name.as_str(), "MPI_Send" | "MPI_Ssend" | "MPI_Rsend")
}

/// Says why something may be under way; None if nothing is.
pub fn doubt(seen: &Observation) -> Option<Doubt> {
    // The numbers of a rank that waits change only if another thread of it does something.
    let is_unprovable = |view: &RankView| match view.traffic {
        Some(traffic) => traffic.is_unprovable,
        None => view.waits_in().is_some(),
    };
    if seen.ranks.iter().any(is_unprovable) {
        return Some(Doubt::Unprovable);
    }
    if !seen.is_whole() {
        return Some(Doubt::OtherMachines);
    }
    let Some(traffic) = seen.ranks.iter().map(|view| view.traffic).collect::<Option<Vec<_>>>() else {
        return Some(Doubt::Changing);
    };
    if traffic.iter().any(|rank| rank.is_uncountable) {
        return Some(Doubt::Uncountable);
    }
    if traffic.iter().any(|rank| rank.pending > 0) {
        return Some(Doubt::Pending);
    }
    let waiting = |view: &RankView| {
        let call = view.waits_in().filter(|call| is_blocking_send(call))?;
        Some((view.rank, call.clone()))
    };
    let sending: Vec<(u32, Call)> = seen.ranks.iter().filter_map(waiting).collect();
    let to_a_rank = sending.iter().filter(|(_, call)| call.peer != Peer::Null).count() as u64;
    let sent: u64 = traffic.iter().map(|rank| rank.sends).sum();
    let received: u64 = traffic.iter().map(|rank| rank.receives).sum();
    if received.checked_add(to_a_rank) != Some(sent) {
        return Some(Doubt::UnderWay);
    }
    sending.iter().any(|(rank, call)| may_be_received(seen, *rank, call)).then_some(Doubt::UnderWay)
}

/// Whether the receiver of a blocking send is in a call that may receive its message.
fn may_be_received(seen: &Observation, sender: u32, send: &Call) -> bool {
    let Peer::World(receiver) = send.peer else { return true };
    let Some(place) = seen.place_of(receiver) else { return true };
    let Some(receive) = seen.ranks[place].waits_in() else { return false };
    if !matches!(
        receive.name.as_str(),
        "MPI_Recv" | "MPI_Mrecv" | "MPI_Probe" | "MPI_Mprobe" | "MPI_Sendrecv" | "MPI_Sendrecv_replace"
    ) {
        return false;
    }
    let source = match receive.peer {
        Peer::World(source) => source == sender,
        _ => true,
    };
    // Two communicators of the same members cannot be told apart.
    let communicator = match (&send.communicator, &receive.communicator) {
        (Some(one), Some(other)) => one.members == other.members,
        _ => true,
    };
    let tag = match (send.tag, receive.tag) {
        (Tag::Number(one), Tag::Number(other)) => one == other,
        _ => true,
    };
    source && communicator && tag
}
