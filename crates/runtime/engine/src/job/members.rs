//! The processes of one node, as they have described themselves.

use super::agreement::TableOffer;
use super::cores::{self, Share};
use super::neighbour::Neighbour;
use super::process_info::{ProcessInfo, STRICT, THREADED};
use evenkeel_options as options;

/// The processes of a node with their ranks in `MPI_COMM_WORLD`, in rank order; at least one.
pub(super) struct NodeMembers<'a>(Vec<(usize, &'a ProcessInfo)>);

impl<'a> NodeMembers<'a> {
    /// Those of all `processes` of the job whose ranks are in `here`.
    pub(super) fn new(processes: &'a [ProcessInfo], here: &[usize]) -> NodeMembers<'a> {
        NodeMembers(here.iter().map(|&rank| (rank, &processes[rank])).collect())
    }

    fn infos(&self) -> impl Iterator<Item = &'a ProcessInfo> {
        self.0.iter().map(|&(_, info)| info)
    }

    pub(super) fn all_have(&self, flag: u32) -> bool {
        self.infos().all(|info| info.flags & flag != 0)
    }

    pub(super) fn none_has(&self, flags: u32) -> bool {
        self.infos().all(|info| info.flags & flags == 0)
    }

    /// Returns whether the kernel schedules all of them in one session.
    pub(super) fn share_a_session(&self) -> bool {
        self.infos().all(|info| info.session == self.0[0].1.session)
    }

    pub(super) fn neighbours(&self) -> Vec<Neighbour> {
        self.0.iter().map(|&(rank, info)| Neighbour::new(rank, info.pid)).collect()
    }

    /// What each of them tells the others about its barrier table.
    pub(super) fn table_offers(&self) -> Vec<TableOffer> {
        let may_run_schedules = |info: &ProcessInfo| info.flags & (STRICT | THREADED) == STRICT;
        let offer = |&(rank, info): &(usize, &ProcessInfo)| TableOffer {
            rank,
            fingerprint: info.table,
            may_run_schedules: may_run_schedules(info),
        };
        self.0.iter().map(offer).collect()
    }

    /// All cores that any of them may use, one bit each.
    fn cores(&self) -> [u64; 4] {
        self.infos().fold([0u64; 4], |mut union, info| {
            union.iter_mut().zip(info.cores).for_each(|(all, one)| *all |= one);
            union
        })
    }

    /// How many cores they can use at once.
    pub(super) fn usable_cores(&self) -> usize {
        let cores: usize = self.cores().iter().map(|word| word.count_ones() as usize).sum();
        let quota = self.infos().map(|info| info.quota).filter(|&quota| quota > 0).min();
        cores::usable(cores.max(1), quota.map(|thousandths| f64::from(thousandths) / 1000.0))
    }

    /// Moves this process to its share of the node's cores, if the launcher has bound none of the processes.
    /// Returns the share if no other rank has a part in it and the system may move the process away.
    pub(super) fn place_on_cores(&self, local_rank: usize) -> Option<Share> {
        let union = self.cores();
        let is_unbound = self.infos().all(|info| info.cores == union);
        let placing = options::PLACE.get();
        if !is_unbound || placing == "none" {
            return None;
        }
        let (allowed, ranks) = (cores::allowed(), self.0.len());
        let mine = cores::share(&allowed, local_rank, ranks)?;
        cores::bind(&mine);
        if placing == "bind" {
            return None;
        }
        // The rank has moved to its share; from here on the system may move it again. A rank that had to stay
        // on the core of another program's busy process would starve, and all others would wait for it.
        cores::bind(&allowed);
        (ranks <= allowed.len()).then(|| Share::new(&mine, &allowed))
    }
}
