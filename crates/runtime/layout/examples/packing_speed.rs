//! Packing and unpacking of regular layouts, compared with loops of one's own.
//!
//! Both sides take turns; each figure is the median of 41 rounds, in µs for packing and unpacking.

use evenkeel_layout::{ArrayOrder, Layout, LayoutError};
use evenkeel_statistics::median;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 41;
const BYTES_PER_ROUND: usize = 2_000_000;
const DOUBLE: usize = 8;

/// µs of one call, as the mean of many.
fn time(calls: usize, mut call: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..calls).for_each(|_| call());
    began.elapsed().as_secs_f64() * 1e6 / calls as f64
}

fn by_layout(layout: &Layout, memory: &mut [u8], packed: &mut [u8]) -> Result<(), LayoutError> {
    layout.pack_slice(memory, 0, 1, 0, packed)?;
    black_box(&mut *packed);
    layout.unpack_slice(packed, memory, 0, 1, 0)?;
    black_box(memory);
    Ok(())
}

fn compare(name: &str, layout: &Layout, own: impl Fn(&mut [u8], &mut [u8])) -> Result<(), LayoutError> {
    let bytes = layout.size();
    let mut memory = vec![1; (layout.true_lower_bound() + layout.true_extent()) as usize];
    let mut packed = vec![2; bytes];
    let calls = (BYTES_PER_ROUND / bytes).max(1);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut result = Ok(());
        ours.push(time(calls, || result = by_layout(layout, &mut memory, &mut packed)));
        result?;
        theirs.push(time(calls, || own(&mut memory, &mut packed)));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!("{name:<34} {bytes:>9}  {ours:>9.2}  {theirs:>9.2}  {:>5.2}", ours / theirs);
    Ok(())
}

/// A loop as programs have it: the length of a block is known when it is compiled.
fn blocks<const BLOCK: usize>(memory: &mut [u8], packed: &mut [u8]) {
    for (to, from) in packed.chunks_exact_mut(BLOCK).zip(memory.chunks(2 * BLOCK)) {
        to.copy_from_slice(&from[..BLOCK]);
    }
    black_box(&mut *packed);
    for (from, to) in packed.chunks_exact(BLOCK).zip(memory.chunks_mut(2 * BLOCK)) {
        to[..BLOCK].copy_from_slice(from);
    }
    black_box(memory);
}

fn every_second<const BLOCK: usize>(bytes: usize) -> Result<(), LayoutError> {
    let layout = Layout::bytes(BLOCK).strided(bytes / BLOCK, 1, 2 * BLOCK as isize)?;
    compare(&format!("every 2nd block of {BLOCK} bytes"), &layout, blocks::<BLOCK>)
}

/// A part of a face of a cube of doubles, across the dimension that changes fastest.
fn face(edge: usize) -> Result<(), LayoutError> {
    let side = edge / 2;
    let double = Layout::bytes(DOUBLE);
    let layout = double.subarray(&[edge; 3], &[side, side, 1], &[1, 2, 3], ArrayOrder::C)?;
    let first = layout.true_lower_bound() as usize;
    let place = |i: usize, j: usize| (first + DOUBLE * edge * (i * edge + j), DOUBLE * (i * side + j));
    let points = || (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    compare("3-D face of doubles", &layout, |memory, packed| {
        for (i, j) in points() {
            let (from, to) = place(i, j);
            packed[to..to + DOUBLE].copy_from_slice(&memory[from..from + DOUBLE]);
        }
        black_box(&mut *packed);
        for (i, j) in points() {
            let (to, from) = place(i, j);
            memory[to..to + DOUBLE].copy_from_slice(&packed[from..from + DOUBLE]);
        }
        black_box(memory);
    })
}

/// A double and an int of each of many structures.
fn particles(count: usize) -> Result<(), LayoutError> {
    const EXTENT: usize = 40;
    let layout =
        Layout::bytes(4).indexed([(2, 0), (1, 24)])?.resized(0, EXTENT as isize)?.contiguous(count)?;
    compare("8 and 4 bytes of each 40", &layout, |memory, packed| {
        for (to, from) in packed.chunks_exact_mut(12).zip(memory.chunks(EXTENT)) {
            to[..8].copy_from_slice(&from[..8]);
            to[8..].copy_from_slice(&from[24..28]);
        }
        black_box(&mut *packed);
        for (from, to) in packed.chunks_exact(12).zip(memory.chunks_mut(EXTENT)) {
            to[..8].copy_from_slice(&from[..8]);
            to[24..28].copy_from_slice(&from[8..]);
        }
        black_box(memory);
    })
}

fn main() -> Result<(), LayoutError> {
    println!("{:<34} {:>9}  {:>9}  {:>9}  ratio", "layout", "bytes", "layout µs", "own µs");
    for bytes in [1 << 10, 1 << 15, 1 << 18, 1 << 22] {
        every_second::<8>(bytes)?;
        every_second::<128>(bytes)?;
        every_second::<1024>(bytes)?;
    }
    face(64)?;
    particles(10_000)
}
