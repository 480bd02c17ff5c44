//! Blocking collectives: an operation, and a wait until this rank's part of it is done.
//!
//! [`collective`] carries out any operation, [`fast_path`] what programs call most; both wait in
//! [`wait_loop`].
//!
//! May use: everything below the dispatcher but barriers. Must never hold a rank for something that it
//! does not need.

pub mod collective;
pub mod fast_path;
pub mod wait_loop;
