//! A part of a buffer.

/// A part of a buffer: where it starts, in bytes relative to the buffer's start, and its length.
///
/// An offset may be negative, as displacements of MPI may. C calls it `ek_span`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Span {
    /// Bytes from the start of the buffer.
    pub offset: isize,
    /// Length in bytes.
    pub bytes: usize,
}
