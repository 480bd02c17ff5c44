//! allgather
