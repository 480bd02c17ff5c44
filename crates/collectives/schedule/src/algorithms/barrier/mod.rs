//! Barriers: nobody leaves before all have entered.
//!
//! Those with a check-in and a release ([`release`]) gather at one rank and tell the others from there;
//! in the others all ranks do the same and hear, through others, from all.
//!
//! No barrier carries data, and one bank is enough for all of them: who raises a flag for epoch e + 1
//! has left epoch e, so whoever finds that value in place of e's may rely on all that e's would have
//! told, and more.

pub mod binomial_spanning_tree;
pub mod butterfly;
pub mod central_counter;
pub mod climbing_tree;
pub mod combining_tree;
pub mod dissemination;
pub mod f_way_tournament;
pub mod flag_groups;
pub mod hierarchical;
pub mod mcs;
pub mod n_way_dissemination;
pub mod n_wise_exchange;
pub mod pairwise_exchange;
pub mod release;
pub mod tournament;
