//! A copy by vector instructions, for the case in which `memcpy` is many times slower.
//!
//! From 2 KiB on, glibc copies with `rep movsb` on processors that recommend it. Where the target lies up to
//! 63 bytes behind the source, modulo the size of a page, AMD's Zen 3 and Zen 4 then take byte by byte: 4 KiB
//! take 1.9 µs in place of 0.08. Shared memory starts on a page, and a large block of `malloc` 16 bytes
//! behind one, so this is what a program's buffers look like. glibc 2.39 avoids it (its bug 30994).

/// Sizes for which glibc uses `rep movsb`.
const SIZES: std::ops::Range<usize> = 2 * 1024..1024 * 1024;
const PAGE: usize = 4096;

/// Returns whether `memcpy` may be slow here.
#[inline(always)]
pub fn are_wanted(from: *const u8, to: *const u8, bytes: usize) -> bool {
    let distance = (to as usize).wrapping_sub(from as usize) % PAGE;
    cfg!(target_arch = "x86_64") && SIZES.contains(&bytes) && (1..64).contains(&distance)
}

/// Copies bytes.
///
/// # Safety
/// Both places must be valid for `bytes` and must not overlap.
#[cold]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    let whole = bytes & !63;
    // SAFETY: both parts are within `bytes`, and the processor has the instructions.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            copy_lines_avx2(from, to, whole);
        } else {
            copy_lines_sse2(from, to, whole);
        }
        #[cfg(not(target_arch = "x86_64"))]
        std::ptr::copy_nonoverlapping(from, to, whole);
        std::ptr::copy_nonoverlapping(from.add(whole), to.add(whole), bytes - whole);
    }
}

/// # Safety
/// As for [`copy`], and `bytes` must be a multiple of 64.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn copy_lines_avx2(from: *const u8, to: *mut u8, bytes: usize) {
    use core::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};
    for at in (0..bytes).step_by(32) {
        // SAFETY: within `bytes`; neither side must be aligned.
        unsafe { _mm256_storeu_si256(to.add(at).cast::<__m256i>(), _mm256_loadu_si256(from.add(at).cast())) };
    }
}

/// # Safety
/// As for [`copy_lines_avx2`].
#[cfg(target_arch = "x86_64")]
unsafe fn copy_lines_sse2(from: *const u8, to: *mut u8, bytes: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};
    for at in (0..bytes).step_by(16) {
        // SAFETY: within `bytes`; neither side must be aligned.
        unsafe { _mm_storeu_si128(to.add(at).cast::<__m128i>(), _mm_loadu_si128(from.add(at).cast())) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_copied_and_nothing_else() {
        let from: Vec<u8> = (0..20_000u32).map(|i| (i * 7 + i / 256) as u8).collect();
        for (offset, bytes) in [(0, 0), (1, 63), (3, 64), (0, 4096), (5, 5000), (16, 12_345)] {
            let mut to = vec![0; 20_000];
            // SAFETY: both buffers are long enough.
            unsafe { copy(from.as_ptr().add(offset), to.as_mut_ptr().add(7), bytes) };
            assert_eq!(to[7..7 + bytes], from[offset..offset + bytes]);
            assert!(to[..7].iter().chain(&to[7 + bytes..]).all(|&byte| byte == 0));
            #[cfg(target_arch = "x86_64")]
            {
                let mut again = vec![0; 20_000];
                let whole = bytes & !63;
                // SAFETY: as above.
                unsafe { copy_lines_sse2(from.as_ptr().add(offset), again.as_mut_ptr().add(7), whole) };
                assert_eq!(again[7..7 + whole], to[7..7 + whole]);
            }
        }
    }

    #[test]
    fn they_are_for_targets_shortly_behind_the_source_of_a_page() {
        let at = |address: usize| std::ptr::without_provenance_mut::<u8>(address);
        let wanted = |from, to, bytes| are_wanted(at(from), at(to), bytes);
        assert_eq!(wanted(0x10000, 0x53010, 4096), cfg!(target_arch = "x86_64"));
        assert!(!wanted(0x10000, 0x53000, 4096) && !wanted(0x10010, 0x53000, 4096));
        assert!(!wanted(0x10000, 0x53040, 4096) && !wanted(0x10000, 0x53010, 1024));
        assert!(!wanted(0x10000, 0x53010, 4 << 20));
    }
}
