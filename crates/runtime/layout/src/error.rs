/// Why there is no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A size, extent or displacement does not fit into a signed 64-bit number.
    #[error("the datatype's size or displacements overflow")]
    Overflow,
    /// Its loops are nested too deeply, or it has too many irregular pieces: it would need too much memory.
    #[error("the datatype has too many irregular pieces, or its loops are nested too deeply")]
    TooComplex,
    /// Arguments that no datatype has: of unequal number, or out of range.
    #[error("the datatype's arguments contradict each other")]
    Invalid,
    /// A slice is shorter than the elements that are to be packed from it or unpacked to it.
    #[error("the memory is smaller than the elements")]
    OutOfBounds,
}
