//! Combines contributions in rank order.
//!
//! The result is always `x0 op (x1 op (… op x_last))`, which is also the [`fold_order`] of schedules. Order
//! and grouping depend only on the ranks, and not on which rank was late or which rank combines. The bits
//! of a floating-point result are therefore the same in every run.

use crate::collective::call::Call;
use crate::copy::copy;
use evenkeel_schedule::deposits::fold_order;

/// How many bytes are combined at a time: few enough to stay in the first-level cache for all
/// contributions.
const BLOCK: usize = 8 * 1024;

/// Combines `count` elements of each of `sources` (in rank order, at least one) into `out`.
///
/// `out` may be one of the sources, but must not overlap a source otherwise.
///
/// # Safety
/// All pointers must be valid for `count × elem_bytes` bytes. `call.combine` must be set if there is more
/// than one source.
pub unsafe fn fold(call: &Call, sources: &[*const u8], out: *mut u8, count: usize) {
    let elem = call.elem_bytes.max(1);
    let (innermost, rest) = fold_order(sources.len());
    let innermost = sources[innermost];
    if sources.len() == 1 {
        // SAFETY: the caller's promise; if the two differ, they do not overlap.
        unsafe { copy(innermost, out, count * elem) };
        return;
    }
    let combine = call.combine.expect("a reduction of several contributions has an operator");
    let context = call.combine_context;
    let step = (BLOCK / elem).max(1);
    // The result is built in `out`, unless `out` holds a contribution that is still needed.
    let in_place = rest.clone().any(|i| std::ptr::eq(sources[i], out));
    let mut scratch = std::mem::MaybeUninit::<Scratch>::uninit();
    let mut large = Vec::new();
    let temporary: *mut u8 = if !in_place {
        std::ptr::null_mut()
    } else if step * elem <= BLOCK {
        scratch.as_mut_ptr().cast()
    } else {
        large.resize(elem + 16, 0u8);
        large.as_mut_ptr().wrapping_add(large.as_ptr().align_offset(16))
    };
    let mut done = 0;
    while done < count {
        let n = step.min(count - done);
        let (at, bytes) = (done * elem, n * elem);
        // SAFETY: within the buffers by the caller's promise; the temporary has room for a block.
        unsafe {
            let result = if in_place { temporary } else { out.add(at) };
            copy(innermost.add(at), result, bytes);
            for i in rest.clone() {
                combine(context, sources[i].add(at).cast(), result.cast(), n);
            }
            if in_place {
                copy(result, out.add(at), bytes);
            }
        }
        done += n;
    }
}

#[repr(align(64))]
struct Scratch(#[allow(dead_code, reason = "only accessed as bytes")] [u8; BLOCK]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::call::CollectiveKind as Kind;
    use std::ffi::c_void;

    /// Multiplies 2×2 matrices modulo 2^32: associative, but not commutative.
    unsafe extern "C" fn multiply(_: *mut c_void, a: *const c_void, b: *mut c_void, n: usize) {
        let (a, b) = (a.cast::<[u32; 4]>(), b.cast::<[u32; 4]>());
        for i in 0..n {
            // SAFETY: both pointers are valid for `n` elements.
            let (x, y) = unsafe { (a.add(i).read_unaligned(), b.add(i).read_unaligned()) };
            let dot = |r: usize, c: usize| {
                x[2 * r].wrapping_mul(y[c]).wrapping_add(x[2 * r + 1].wrapping_mul(y[c + 2]))
            };
            // SAFETY: as above.
            unsafe { b.add(i).write_unaligned([dot(0, 0), dot(0, 1), dot(1, 0), dot(1, 1)]) };
        }
    }

    #[test]
    fn rank_order_holds_in_place_and_out_of_place() {
        let count = 2000; // several blocks
        let inputs: Vec<Vec<[u32; 4]>> = (0..5u32)
            .map(|r| (0..count as u32).map(|i| [r + 1, i, 3 * r, r.wrapping_mul(i) + 1]).collect())
            .collect();
        let mut expected = inputs[4].clone();
        for r in (0..4).rev() {
            // SAFETY: equal lengths.
            unsafe {
                multiply(std::ptr::null_mut(), inputs[r].as_ptr().cast(), expected.as_mut_ptr().cast(), count)
            };
        }
        let call = Call { combine: Some(multiply), elem_bytes: 16, ..Call::empty(Kind::Reduce) };
        for place in [None, Some(0), Some(2), Some(4)] {
            let mut work = inputs.clone();
            let mut out = vec![[0u32; 4]; count];
            let target = place.map_or(out.as_mut_ptr(), |r: usize| work[r].as_mut_ptr());
            let sources: Vec<*const u8> = work.iter().map(|w| w.as_ptr().cast()).collect();
            // SAFETY: all buffers hold `count` elements.
            unsafe { fold(&call, &sources, target.cast(), count) };
            let result = place.map_or(&out, |r| &work[r]);
            assert!(*result == expected, "{place:?}");
        }
    }
}
