//! Loops that move bytes: for runs of usual lengths one for each length, so that the compiler knows it.
//!
//! `PACK` says whether bytes go from the elements to the packed bytes, or back.

use crate::node::Piece;

/// All runs up to this length have a kernel.
const LONGEST: usize = 64;

/// Runs longer than this are copied by `memcpy`, whose call then costs little beside the copy.
const LONGEST_INLINE: usize = 512;

/// Whether there is a kernel for runs of so many bytes.
#[inline(always)]
pub(crate) fn has_kernel(bytes: usize) -> bool {
    bytes <= LONGEST || matches!(bytes, 96 | 128 | 192 | 256)
}

/// Copies so many bytes.
///
/// # Safety
/// Both must be valid for so many bytes, and must not overlap. Of the two, packing writes `packed` only,
/// unpacking `memory` only.
#[inline(always)]
pub(crate) unsafe fn copy<const PACK: bool>(memory: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if PACK {
            std::ptr::copy_nonoverlapping(memory.cast_const(), packed, bytes);
        } else {
            std::ptr::copy_nonoverlapping(packed.cast_const(), memory, bytes);
        }
    }
}

/// [`copy`] for runs of more than [`LONGEST`] bytes.
///
/// # Safety
/// As for [`copy`].
#[inline(always)]
pub(crate) unsafe fn copy_long<const PACK: bool>(memory: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise. The last copy overlaps the one before, and all are within the bytes.
    unsafe {
        if bytes > LONGEST_INLINE {
            return copy::<PACK>(memory, packed, bytes);
        }
        let last = bytes - LONGEST;
        let mut at = 0;
        while at < last {
            copy::<PACK>(memory.wrapping_add(at), packed.wrapping_add(at), LONGEST);
            at += LONGEST;
        }
        copy::<PACK>(memory.wrapping_add(last), packed.wrapping_add(last), LONGEST);
    }
}

/// Runs at up to three strides, the first of which changes fastest. Each count is at least 1.
pub(crate) struct Nest {
    pub(crate) counts: [usize; 3],
    pub(crate) strides: [isize; 3],
}

/// One run of each element of a loop, that is a column: its place advances by `stride` in memory, and by
/// `packed_stride` in the packed bytes.
pub(crate) struct Column {
    pub(crate) count: usize,
    pub(crate) stride: isize,
    pub(crate) packed_stride: usize,
}

/// # Safety
/// All runs of the nest must be valid, from `memory` on, and `packed` for as many bytes.
unsafe fn nest<const PACK: bool, const BYTES: usize>(memory: *mut u8, packed: *mut u8, nest: &Nest) {
    let [count, lines, planes] = nest.counts;
    let [stride, line_stride, plane_stride] = nest.strides;
    let (mut plane, mut packed) = (memory, packed);
    for _ in 0..planes {
        let mut line = plane;
        for _ in 0..lines {
            let column = Column { count, stride, packed_stride: BYTES };
            // SAFETY: the caller's promise.
            unsafe { self::column::<PACK, BYTES>(line, packed, &column) };
            packed = packed.wrapping_add(count * BYTES);
            line = line.wrapping_offset(line_stride);
        }
        plane = plane.wrapping_offset(plane_stride);
    }
}

/// # Safety
/// All runs of the column must be valid, from `memory` on, and all that belong to them from `packed` on.
#[inline(always)]
unsafe fn column<const PACK: bool, const BYTES: usize>(memory: *mut u8, packed: *mut u8, column: &Column) {
    let &Column { count, stride, packed_stride } = column;
    let (mut memory, mut packed, mut left) = (memory, packed, count);
    while left >= 4 {
        // SAFETY: the caller's promise.
        unsafe {
            copy::<PACK>(memory, packed, BYTES);
            copy::<PACK>(memory.wrapping_offset(stride), packed.wrapping_add(packed_stride), BYTES);
            copy::<PACK>(memory.wrapping_offset(2 * stride), packed.wrapping_add(2 * packed_stride), BYTES);
            copy::<PACK>(memory.wrapping_offset(3 * stride), packed.wrapping_add(3 * packed_stride), BYTES);
        }
        memory = memory.wrapping_offset(4 * stride);
        packed = packed.wrapping_add(4 * packed_stride);
        left -= 4;
    }
    for _ in 0..left {
        // SAFETY: the caller's promise.
        unsafe { copy::<PACK>(memory, packed, BYTES) };
        memory = memory.wrapping_offset(stride);
        packed = packed.wrapping_add(packed_stride);
    }
}

/// # Safety
/// The runs at these offsets from `memory` must be valid, and `packed` for as many bytes.
unsafe fn listed<const PACK: bool, const BYTES: usize>(memory: *mut u8, packed: *mut u8, offsets: &[isize]) {
    let mut packed = packed;
    for &offset in offsets {
        // SAFETY: the caller's promise.
        unsafe { copy::<PACK>(memory.wrapping_offset(offset), packed, BYTES) };
        packed = packed.wrapping_add(BYTES);
    }
}

/// Calls the instance of a kernel for a length for which there is one.
macro_rules! by_length {
    ($length:expr, $kernel:ident, $arguments:tt) => {
        by_length!(@ $length, $kernel, $arguments,
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
            96 128 192 256)
    };
    (@ $length:expr, $kernel:ident, $arguments:tt, $($bytes:literal)*) => {
        match $length {
            $($bytes => by_length!(@call $kernel, $bytes, $arguments),)*
            _ => unreachable!("there is no kernel for this length"),
        }
    };
    (@call $kernel:ident, $bytes:literal, ($($argument:expr),*)) => {
        $kernel::<PACK, $bytes>($($argument),*)
    };
}

/// Moves a nest of runs for whose length there is a kernel.
///
/// # Safety
/// All runs of the nest must be valid, from `memory` on, and `packed` for as many bytes. See [`copy`].
pub(crate) unsafe fn move_nest<const PACK: bool>(run: usize, memory: *mut u8, packed: *mut u8, all: &Nest) {
    // SAFETY: the caller's promise.
    unsafe { by_length!(run, nest, (memory, packed, all)) }
}

/// Moves a column of runs for whose length there is a kernel.
///
/// # Safety
/// All runs of the column must be valid, from `memory` on, and all that belong to them from `packed` on. See
/// [`copy`].
pub(crate) unsafe fn move_column<const PACK: bool>(
    run: usize,
    memory: *mut u8,
    packed: *mut u8,
    all: &Column,
) {
    // SAFETY: the caller's promise.
    unsafe { by_length!(run, column, (memory, packed, all)) }
}

/// Moves runs for whose length there is a kernel at these offsets.
///
/// # Safety
/// The runs at these offsets from `memory` must be valid, and `packed` for as many bytes. See [`copy`].
pub(crate) unsafe fn move_list<const PACK: bool>(
    run: usize,
    memory: *mut u8,
    packed: *mut u8,
    offsets: &[isize],
) {
    // SAFETY: the caller's promise.
    unsafe { by_length!(run, listed, (memory, packed, offsets)) }
}

/// Moves pieces of any length. The last one ends at byte `end` of the packed bytes; `packed` is where the
/// first one starts.
///
/// # Safety
/// All pieces must be valid, from `memory` on, and `packed` for as many bytes. See [`copy`].
pub(crate) unsafe fn move_pieces<const PACK: bool>(
    memory: *mut u8,
    packed: *mut u8,
    pieces: &[Piece],
    end: usize,
) {
    let Some(first) = pieces.first() else { return };
    for (i, piece) in pieces.iter().enumerate() {
        let end = pieces.get(i + 1).map_or(end, |next| next.start);
        let to = packed.wrapping_add(piece.start - first.start);
        // SAFETY: the caller's promise.
        unsafe { copy_short::<PACK>(memory.wrapping_offset(piece.at), to, end - piece.start) };
    }
}

/// [`copy`] for a number of bytes that is not known and probably small: two copies that overlap do for any
/// number between one and two times their length.
///
/// # Safety
/// As for [`copy`].
#[inline(always)]
unsafe fn copy_short<const PACK: bool>(memory: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise. Both copies are within the bytes.
    unsafe {
        let twice = |half: usize| {
            copy::<PACK>(memory, packed, half);
            copy::<PACK>(memory.wrapping_add(bytes - half), packed.wrapping_add(bytes - half), half);
        };
        match bytes {
            0 => {}
            1 => copy::<PACK>(memory, packed, 1),
            2..4 => twice(2),
            4..8 => twice(4),
            8..16 => twice(8),
            16..=32 => twice(16),
            33..=64 => twice(32),
            _ => copy::<PACK>(memory, packed, bytes),
        }
    }
}
