//! The file: the header of [times](crate::times::format) with another beginning, then records one after the
//! other, then anything. The number of calls in the header is that of calls that are over.
//!
//! A record is a byte and numbers of variable [length](crate::varint). A text is its length and its bytes;
//! lists begin with their length. Words are signed.
//!
//! | byte | record |
//! |---|---|
//! | 0 | a function: its name, its arguments, its results; these as `name:kind` after `name:kind` |
//! | 1 | a file with code: its size, its time of change (ns), its path |
//! | 2 | a site: its file + 1 (0: none), offset of the return address in it |
//! | 3 | a site in a script: file, line, function |
//! | 4 | a call begins: thread, function, site, list of words |
//! | 5 | the call of this thread is over: thread, 1 if it has failed, list of words |
//! | 6 | a communicator: handle, pieces of its members' world ranks, the same of remote ones |
//! | 7 | a predefined type of elements: name, bytes |
//! | 8 | a sequence of elements: how many parts, and of each how often it comes and which it is |
//! | 9 | a datatype that may be used: handle, elements + 1 (0: not known), size, extent, runs |
//! | 10 | a request's send buffer was changed while it was under way: handle, 1; 2: it is gone |
//! | 11 | a handle of the library's: name, word |
//!
//! Runs of bytes: 1 + how many (0: not known), and of each how far it is from the end of the one before, and
//! its length.
//!
//! Functions, files, sites (of both kinds) and elements (7 and 8) are numbered as they come.
//!
//! | kind | an argument or a result |
//! |---|---|
//! | `b` | the address of a buffer; -1: `MPI_IN_PLACE` |
//! | `n`, `r`, `t` | a number, a rank, a tag; special ranks and tags as in [times](crate::times::shape) |
//! | `c` `d` `o` `g` `w` `f` | a handle: communicator, datatype, operator, group, window, file |
//! | `q` `m` `i` `e` `s` | a handle: request, message, info, error handler, session |
//! | `N` `D` `Q` | lists of these |
//! | `S` | statuses: of each four words: source, tag, bytes (-1: not known), 1 if it was cancelled |

use crate::rank_file::FileFormat;

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"EKCHECK\n";
/// The version of the format.
pub const VERSION: u32 = 1;
pub(crate) const FORMAT: FileFormat =
    FileFormat { magic: MAGIC, version: VERSION, otherwise: "it has no arguments of MPI calls" };
/// In place of an address: `MPI_IN_PLACE`.
pub const IN_PLACE: i64 = -1;
/// Runs of bytes that are written of a datatype, at most.
pub const MOST_RUNS: usize = 1024;
/// Words that a call may have, at most.
pub const MOST_WORDS: u64 = 1 << 26;

pub(crate) const FUNCTION: u8 = 0;
pub(crate) const MODULE: u8 = 1;
pub(crate) const SITE: u8 = 2;
pub(crate) const SCRIPT_SITE: u8 = 3;
pub(crate) const BEGIN: u8 = 4;
pub(crate) const END: u8 = 5;
pub(crate) const COMM: u8 = 6;
pub(crate) const NAMED_ELEMENT: u8 = 7;
pub(crate) const SEQUENCE: u8 = 8;
pub(crate) const TYPE: u8 = 9;
pub(crate) const CHANGED: u8 = 10;
pub(crate) const CONSTANT: u8 = 11;
