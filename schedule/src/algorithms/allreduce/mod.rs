//! allreduce
