//! Where the bytes of a datatype's elements lie, as loops; packing and unpacking them, from any byte on.
//!
//! A [`Layout`] is made as MPI makes types: from a run of bytes, by repeating and joining
//! ([`Layout::contiguous`], [`Layout::strided`], [`Layout::structured`] and others). It is brought
//! into a normal form: layouts with the same map are packed by the same loops, and compare equal, whichever
//! way they were made. [`Layout::pack`] and [`Layout::unpack`] move any part of the packed bytes, so a
//! message can be cut anywhere; they allocate nothing, and their stack is bounded by the depth of the loops.
//!
//! ```
//! use evenkeel_layout::Layout;
//! // A column of a matrix of 3 rows and 4 columns of 2 bytes each.
//! let column = Layout::bytes(2).strided(3, 1, 8)?;
//! let matrix: Vec<u8> = (0..24).collect();
//! let mut packed = [0; 4];
//! column.pack_slice(&matrix, 2, 1, 1, &mut packed)?; // the second column, without its first byte
//! assert_eq!(packed, [3, 10, 11, 18]);
//! # Ok::<(), evenkeel_layout::LayoutError>(())
//! ```
//!
//! May use: std. Must never: know MPI handles, segments or clocks, allocate while it packs, or take a layout
//! that it cannot carry out in bounded memory: making one fails with a [`LayoutError`] instead.

mod arrays;
mod bounds;
mod error;
mod flatten;
mod kernels;
mod layout;
mod make;
mod node;
mod transfer;

pub use arrays::{ArrayOrder, Distribution};
pub use error::LayoutError;
pub use layout::Layout;
pub use make::Block;
