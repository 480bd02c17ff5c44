//! Barriers: no rank leaves before all ranks have entered.
//!
//! In a barrier with a check-in and a release (module `release`) rank 0 learns that all ranks have entered
//! and then tells the others. In the other barriers every rank does the same and hears, directly or through
//! others, from all ranks.
//!
//! No barrier carries data, and one bank is enough for each of them. A rank that raises a flag for epoch
//! e + 1 has left epoch e. So a rank that finds that value instead of the value of e may rely on
//! everything that the value of e would have said.

pub(crate) mod binomial_spanning_tree;
pub(crate) mod butterfly;
pub(crate) mod central_counter;
pub(crate) mod climbing_tree;
pub(crate) mod combining_tree;
pub(crate) mod dissemination;
pub(crate) mod f_way_tournament;
pub(crate) mod flag_groups;
pub(crate) mod hierarchical;
pub(crate) mod mcs;
pub(crate) mod n_way_dissemination;
pub(crate) mod n_wise_exchange;
pub(crate) mod pairwise_exchange;
pub(crate) mod release;
pub(crate) mod tournament;
