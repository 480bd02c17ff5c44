//! bcast
