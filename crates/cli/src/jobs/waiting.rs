//! Which rank needs which, from what is seen of a job.

use super::observation::{Observation, RankView, Standing};
use super::rank::{Call, Peer};
use super::traffic::{self, Doubt};
use super::wait_graph::Need;

/// The needs of all ranks, by their places in the observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// What is proved: a rank that might go on without these needs nothing here.
    pub proved: Vec<Need>,
    /// What the calls say: whether a message has come already, or a send may end by itself, is not known.
    pub told: Vec<Need>,
    /// Why the calls do not prove it, where messages are concerned.
    pub doubt: Option<Doubt>,
}

/// Which ranks need which others.
pub fn needs(seen: &Observation) -> Needs {
    let doubt = traffic::doubt(seen);
    let told: Vec<Need> = seen.ranks.iter().map(|view| need(seen, view)).collect();
    let proved = told.iter().zip(&seen.ranks).map(|(need, view)| {
        let is_sure = match view.waits_in() {
            None => true, // nothing, or gone
            // What it calls back, for attributes of MPI_COMM_SELF, may still send messages.
            Some(call) if call.name == "MPI_Finalize" => {
                view.traffic.is_some_and(|traffic| traffic.sends_no_more)
            }
            Some(call) if call.collective.is_some() => doubt != Some(Doubt::Unprovable),
            Some(call) => doubt.is_none() && call.name != "MPI_Send" && call.name != "MPI_Rsend",
        };
        if is_sure { need.clone() } else { Need::Nothing }
    });
    Needs { proved: proved.collect(), told: told.clone(), doubt }
}

fn need(seen: &Observation, view: &RankView) -> Need {
    match &view.standing {
        Standing::Exited { .. } => Need::Gone,
        Standing::Outside | Standing::GoingOn(_) => Need::Nothing,
        // Messages that it has sent are counted like those of others.
        Standing::Waiting(call) if call.name == "MPI_Finalize" => Need::Gone,
        Standing::Waiting(call) => call_needs(seen, view.rank, call),
    }
}

fn call_needs(seen: &Observation, me: u32, call: &Call) -> Need {
    if let Some(collective) = &call.collective {
        let Some(missing) = &collective.missing else { return Need::Nothing };
        // A rank that waits in the same collective has come to it, whatever its words say.
        let is_here = |rank: &u32| {
            let other = seen.place_of(*rank).and_then(|place| seen.ranks[place].waits_in());
            other.is_some_and(|other| {
                other.name == call.name
                    && other.collective.as_ref().is_some_and(|it| it.instance == collective.instance)
            })
        };
        let late = missing.iter().filter(|rank| !is_here(rank)).map(|rank| seen.place_of(*rank));
        return match late.collect::<Option<Vec<usize>>>() {
            Some(late) if !late.is_empty() => Need::All(late),
            _ => Need::Nothing,
        };
    }
    let is_receive = matches!(call.name.as_str(), "MPI_Recv" | "MPI_Probe" | "MPI_Mprobe");
    let is_send = matches!(call.name.as_str(), "MPI_Send" | "MPI_Ssend" | "MPI_Rsend");
    match call.peer {
        Peer::World(peer) if is_receive || is_send => {
            seen.place_of(peer).map_or(Need::Nothing, |peer| Need::All(vec![peer]))
        }
        Peer::Any if is_receive => {
            let Some(communicator) = &call.communicator else { return Need::Nothing };
            // A rank may send to itself, but not while it waits here.
            let others = communicator.members.iter().filter(|member| **member != me);
            let others: Option<Vec<usize>> = others.map(|member| seen.place_of(*member)).collect();
            others.filter(|others| !others.is_empty()).map_or(Need::Nothing, Need::Any)
        }
        _ => Need::Nothing,
    }
}
