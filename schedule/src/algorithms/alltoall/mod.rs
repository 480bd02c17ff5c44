//! alltoall
