//! Which rank needs which, from what is seen of a job.

use super::inspection::HostCollectives;
use super::observation::{Observation, RankView, Standing};
use super::rank::{self, Call, Peer};
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
            Some(call) if call.name == "MPI_Finalize" => return need_in_finalize(seen, view),
            Some(call) if call.collective.is_some() || call.host_collective.is_some() => {
                doubt != Some(Doubt::Unprovable)
            }
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
        Standing::Waiting(call) if call.name == "MPI_Finalize" => match need_in_finalize(seen, view) {
            Need::Nothing => Need::Gone,
            need => need,
        },
        Standing::Waiting(call) => call_needs(seen, view.rank, call),
    }
}

/// What the program has attached to MPI_COMM_SELF may still send messages when MPI_Finalize calls it back.
fn need_in_finalize(seen: &Observation, view: &RankView) -> Need {
    let Some(traffic) = view.traffic.filter(|traffic| !traffic.is_unprovable) else { return Need::Nothing };
    let has_come = |other: &RankView| match &other.standing {
        Standing::Exited { finished } => *finished,
        Standing::Waiting(call) | Standing::GoingOn(Some(call)) => call.name == "MPI_Finalize",
        Standing::GoingOn(None) | Standing::Outside => false,
    };
    let late: Vec<usize> = (0..seen.ranks.len()).filter(|place| !has_come(&seen.ranks[*place])).collect();
    match () {
        () if traffic.waits_for_all && !late.is_empty() => Need::All(late),
        () if traffic.sends_no_more => Need::Gone,
        () => Need::Nothing,
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
    if let Some(mine) = call.host_collective {
        return host_collective_needs(seen, me, call, mine);
    }
    // What a call both sends and receives is over when both are.
    let is_receive = matches!(
        call.name.as_str(),
        "MPI_Recv" | "MPI_Probe" | "MPI_Mprobe" | "MPI_Sendrecv" | "MPI_Sendrecv_replace"
    );
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

/// A collective that the MPI library carries out needs the members that have called fewer of the
/// communicator's, and have not left to the library what they do now.
fn host_collective_needs(seen: &Observation, me: u32, call: &Call, mine: HostCollectives) -> Need {
    let Some(communicator) = &call.communicator else { return Need::Nothing };
    let members = &communicator.members;
    let Some(my_number) = members.iter().position(|member| *member == me) else { return Need::Nothing };
    let root = match call.peer {
        Peer::World(root) => members.iter().position(|member| *member == root),
        _ => None,
    };
    let needed = rank::needed(&call.name, my_number, members.len(), root).unwrap_or_default();
    let called =
        |view: &RankView| view.host_collectives.iter().find(|it| it.of == mine.of).map(|it| it.called);
    // Another communicator of this rank may have the same members.
    let is_known_here = seen.place_of(me).and_then(|place| called(&seen.ranks[place])) == Some(mine.called);
    let is_late = |place: &usize| called(&seen.ranks[*place]).is_some_and(|called| called < mine.called);
    let places = needed.into_iter().filter_map(|member| seen.place_of(members[member]));
    let late: Vec<usize> = places.filter(is_late).collect();
    if is_known_here && !late.is_empty() { Need::All(late) } else { Need::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::inspection::Communicator;
    use crate::jobs::observation::Traffic;
    use crate::jobs::rank::Tag;

    const WORLD: u64 = 0;

    fn call(name: &str, called: u64, peer: Peer) -> Call {
        Call {
            name: name.into(),
            communicator: Some(Communicator { name: "world".into(), members: vec![0, 1, 2] }),
            peer,
            tag: Tag::None,
            collective: None,
            host_collective: Some(HostCollectives { of: WORLD, called }),
        }
    }

    const QUIET: Traffic = Traffic {
        sends: 0,
        receives: 0,
        pending: 0,
        is_uncountable: false,
        is_unprovable: false,
        sends_no_more: false,
        waits_for_all: false,
    };

    fn view(rank: u32, standing: Standing, called: Option<u64>) -> RankView {
        let host_collectives = called.map(|called| HostCollectives { of: WORLD, called });
        RankView {
            traffic: Some(QUIET),
            host_collectives: host_collectives.into_iter().collect(),
            ..RankView::example(rank, standing)
        }
    }

    /// What rank 0 needs in its fifth collective, where rank 1 waits, too, and rank 2 has called so many.
    fn needed_by_first(name: &str, peer: Peer, others: Option<u64>, own: Option<u64>) -> Need {
        let waiting = |rank, own| view(rank, Standing::Waiting(call(name, 5, peer)), own);
        let ranks = vec![waiting(0, own), waiting(1, Some(5)), view(2, Standing::Outside, others)];
        needs(&Observation { hosts: vec!["here".into()], ranks, ranks_in_all: 3 }).proved[0].clone()
    }

    #[test]
    fn a_collective_of_the_library_needs_those_that_have_called_fewer() {
        let barrier = |others, own| needed_by_first("MPI_Barrier", Peer::None, others, own);
        assert_eq!(barrier(Some(4), Some(5)), Need::All(vec![2]));
        assert_eq!(barrier(Some(5), Some(5)), Need::Nothing, "it may have been in this one, and left it");
        assert_eq!(barrier(None, Some(5)), Need::Nothing, "it may have called more between the looks");
        assert_eq!(barrier(Some(4), None), Need::Nothing, "this rank has another one of the same members");
        assert_eq!(barrier(Some(4), Some(6)), Need::Nothing);
    }

    /// The numbers of a rank that waits do not change, unless another thread of it does something.
    #[test]
    fn nothing_is_proved_while_another_thread_of_a_rank_that_waits_sends_messages() {
        let waits = view(0, Standing::Waiting(call("MPI_Barrier", 5, Peer::None)), Some(5));
        let proved = |first: RankView, second: Option<Traffic>| {
            let second = RankView { traffic: second, ..view(2, Standing::Outside, Some(4)) };
            let seen = Observation { hosts: Vec::new(), ranks: vec![first, second], ranks_in_all: 3 };
            needs(&seen).proved[0].clone()
        };
        assert_eq!(proved(waits.clone(), None), Need::All(vec![1]), "what others do outside is their own");
        assert_eq!(proved(RankView { traffic: None, ..waits.clone() }, Some(QUIET)), Need::Nothing);
        let unprovable = Some(Traffic { is_unprovable: true, ..QUIET });
        assert_eq!(proved(RankView { traffic: unprovable, ..waits }, Some(QUIET)), Need::Nothing);
    }

    #[test]
    fn a_broadcast_needs_its_root_only() {
        let bcast = |root| needed_by_first("MPI_Bcast", Peer::World(root), Some(4), Some(5));
        assert_eq!((bcast(2), bcast(1), bcast(0)), (Need::All(vec![2]), Need::Nothing, Need::Nothing));
        assert_eq!(
            needed_by_first("MPI_Reduce", Peer::World(0), Some(4), Some(5)),
            Need::All(vec![2]),
            "the root of a reduction needs all"
        );
        assert_eq!(needed_by_first("MPI_Reduce", Peer::World(1), Some(4), Some(5)), Need::Nothing);
    }
}
