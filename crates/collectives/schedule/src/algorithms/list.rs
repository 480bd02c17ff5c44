//! The list of all algorithms, and look-ups in it.

use crate::algorithm::Algorithm;
use crate::algorithms::{
    allgather, allreduce, alltoall, barrier, bcast, exscan, gather, reduce, reduce_scatter, scan, scatter,
};
use crate::collective::Collective;

/// All algorithms, grouped by collective.
pub static ALL: &[&Algorithm] = &[
    &barrier::central_counter::ALGORITHM,
    &barrier::combining_tree::ALGORITHM,
    &barrier::climbing_tree::ALGORITHM,
    &barrier::tournament::ALGORITHM,
    &barrier::f_way_tournament::ALGORITHM,
    &barrier::mcs::ALGORITHM,
    &barrier::binomial_spanning_tree::ALGORITHM,
    &barrier::butterfly::ALGORITHM,
    &barrier::pairwise_exchange::ALGORITHM,
    &barrier::dissemination::ALGORITHM,
    &barrier::n_way_dissemination::ALGORITHM,
    &barrier::n_wise_exchange::ALGORITHM,
    &barrier::flag_groups::ALGORITHM,
    &barrier::hierarchical::ALGORITHM,
    &bcast::flat::ALGORITHM,
    &bcast::binomial::ALGORITHM,
    &bcast::flag_tree::ALGORITHM,
    &bcast::postal::ALGORITHM,
    &bcast::multi_send::ALGORITHM,
    &bcast::pipelined::ALGORITHM,
    &bcast::scatter_allgather::ALGORITHM,
    &reduce::flat::ALGORITHM,
    &reduce::binomial::ALGORITHM,
    &allreduce::simultaneous_broadcast::ALGORITHM,
    &allreduce::recursive_doubling::ALGORITHM,
    &allreduce::rabenseifner::ALGORITHM,
    &allreduce::ring::ALGORITHM,
    &allreduce::reduce_broadcast::ALGORITHM,
    &allreduce::central_counter::ALGORITHM,
    &allreduce::parts::ALGORITHM,
    &allgather::flat::ALGORITHM,
    &allgather::ring::ALGORITHM,
    &allgather::bruck::ALGORITHM,
    &allgather::recursive_doubling::ALGORITHM,
    &alltoall::flat::ALGORITHM,
    &alltoall::pairwise::ALGORITHM,
    &alltoall::bruck::ALGORITHM,
    &gather::flat::ALGORITHM,
    &gather::binomial::ALGORITHM,
    &scatter::flat::ALGORITHM,
    &scatter::binomial::ALGORITHM,
    &reduce_scatter::flat::ALGORITHM,
    &reduce_scatter::pairwise::ALGORITHM,
    &reduce_scatter::halving::ALGORITHM,
    &scan::flat::ALGORITHM,
    &scan::linear::ALGORITHM,
    &scan::recursive_doubling::ALGORITHM,
    &exscan::flat::ALGORITHM,
    &exscan::linear::ALGORITHM,
    &exscan::recursive_doubling::ALGORITHM,
];

/// The algorithm of that name, if there is one.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALL.iter().copied().find(|a| a.name == name)
}

/// The algorithms for a collective.
pub fn for_collective(collective: Collective) -> impl Iterator<Item = &'static Algorithm> {
    ALL.iter().copied().filter(move |a| a.collective == collective)
}
