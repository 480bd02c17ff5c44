//! Combines plain numbers: the predefined operators on the predefined types, vectorised.
//!
//! `inout[i] = in[i] op inout[i]`. Buffers may be unaligned. The host library combines everything that is
//! not in this table, through a function pointer from C.

use crate::collective::call::Combine;
use std::ffi::c_void;

macro_rules! kernel {
    ($name:ident, $type:ty, |$a:ident, $b:ident| $result:expr) => {
        mod $name {
            use super::*;

            #[inline(always)]
            unsafe fn body(input: *const c_void, inout: *mut c_void, count: usize) {
                let (input, inout) = (input.cast::<$type>(), inout.cast::<$type>());
                for i in 0..count {
                    // SAFETY: the caller promises `count` elements at both; no alignment is assumed.
                    unsafe {
                        let $a = input.add(i).read_unaligned();
                        let $b = inout.add(i).read_unaligned();
                        inout.add(i).write_unaligned($result);
                    }
                }
            }

            pub unsafe extern "C" fn plain(
                _: *mut c_void,
                input: *const c_void,
                inout: *mut c_void,
                count: usize,
            ) {
                // SAFETY: the caller's promise.
                unsafe { body(input, inout, count) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            unsafe fn wide_body(input: *const c_void, inout: *mut c_void, count: usize) {
                // SAFETY: the caller's promise.
                unsafe { body(input, inout, count) }
            }

            #[cfg(target_arch = "x86_64")]
            pub unsafe extern "C" fn wide(
                _: *mut c_void,
                input: *const c_void,
                inout: *mut c_void,
                count: usize,
            ) {
                // SAFETY: `pick` returns this function only if the processor has AVX2.
                unsafe { wide_body(input, inout, count) }
            }

            pub fn pick() -> Combine {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2") {
                    return wide;
                }
                plain
            }
        }
    };
}

macro_rules! integer_kernels {
    ($type:ty, $sum:ident $prod:ident $max:ident $min:ident) => {
        kernel!($sum, $type, |a, b| a.wrapping_add(b));
        kernel!($prod, $type, |a, b| a.wrapping_mul(b));
        kernel!($max, $type, |a, b| a.max(b));
        kernel!($min, $type, |a, b| a.min(b));
    };
}

/// The sign does not matter for these operators.
macro_rules! bit_kernels {
    ($type:ty, $band:ident $bor:ident $bxor:ident $land:ident $lor:ident $lxor:ident) => {
        kernel!($band, $type, |a, b| a & b);
        kernel!($bor, $type, |a, b| a | b);
        kernel!($bxor, $type, |a, b| a ^ b);
        kernel!($land, $type, |a, b| (a != 0 && b != 0) as $type);
        kernel!($lor, $type, |a, b| (a != 0 || b != 0) as $type);
        kernel!($lxor, $type, |a, b| ((a != 0) != (b != 0)) as $type);
    };
}

macro_rules! float_kernels {
    ($type:ty, $sum:ident $prod:ident $max:ident $min:ident) => {
        kernel!($sum, $type, |a, b| a + b);
        kernel!($prod, $type, |a, b| a * b);
        kernel!($max, $type, |a, b| if a > b { a } else { b });
        kernel!($min, $type, |a, b| if a < b { a } else { b });
    };
}

integer_kernels!(i8, sum_i8 prod_i8 max_i8 min_i8);
integer_kernels!(i16, sum_i16 prod_i16 max_i16 min_i16);
integer_kernels!(i32, sum_i32 prod_i32 max_i32 min_i32);
integer_kernels!(i64, sum_i64 prod_i64 max_i64 min_i64);
integer_kernels!(u8, sum_u8 prod_u8 max_u8 min_u8);
integer_kernels!(u16, sum_u16 prod_u16 max_u16 min_u16);
integer_kernels!(u32, sum_u32 prod_u32 max_u32 min_u32);
integer_kernels!(u64, sum_u64 prod_u64 max_u64 min_u64);
bit_kernels!(u8, band_u8 bor_u8 bxor_u8 land_u8 lor_u8 lxor_u8);
bit_kernels!(u16, band_u16 bor_u16 bxor_u16 land_u16 lor_u16 lxor_u16);
bit_kernels!(u32, band_u32 bor_u32 bxor_u32 land_u32 lor_u32 lxor_u32);
bit_kernels!(u64, band_u64 bor_u64 bxor_u64 land_u64 lor_u64 lxor_u64);
float_kernels!(f32, sum_f32 prod_f32 max_f32 min_f32);
float_kernels!(f64, sum_f64 prod_f64 max_f64 min_f64);

macro_rules! of_width {
    ($bytes:expr, $b1:ident $b2:ident $b4:ident $b8:ident) => {
        match $bytes {
            1 => $b1::pick(),
            2 => $b2::pick(),
            4 => $b4::pick(),
            8 => $b8::pick(),
            _ => return None,
        }
    };
}

/// Returns the function for an operator (`"sum"`, …) on elements of a class (`'i'` signed, `'u'` unsigned,
/// `'f'` floating) and width, or `None` if there is none.
pub fn builtin(op: &str, class: char, bytes: usize) -> Option<Combine> {
    Some(match (op, class) {
        ("sum", 'i') => of_width!(bytes, sum_i8 sum_i16 sum_i32 sum_i64),
        ("sum", 'u') => of_width!(bytes, sum_u8 sum_u16 sum_u32 sum_u64),
        ("prod", 'i') => of_width!(bytes, prod_i8 prod_i16 prod_i32 prod_i64),
        ("prod", 'u') => of_width!(bytes, prod_u8 prod_u16 prod_u32 prod_u64),
        ("max", 'i') => of_width!(bytes, max_i8 max_i16 max_i32 max_i64),
        ("max", 'u') => of_width!(bytes, max_u8 max_u16 max_u32 max_u64),
        ("min", 'i') => of_width!(bytes, min_i8 min_i16 min_i32 min_i64),
        ("min", 'u') => of_width!(bytes, min_u8 min_u16 min_u32 min_u64),
        ("band", 'i' | 'u') => of_width!(bytes, band_u8 band_u16 band_u32 band_u64),
        ("bor", 'i' | 'u') => of_width!(bytes, bor_u8 bor_u16 bor_u32 bor_u64),
        ("bxor", 'i' | 'u') => of_width!(bytes, bxor_u8 bxor_u16 bxor_u32 bxor_u64),
        ("land", 'i' | 'u') => of_width!(bytes, land_u8 land_u16 land_u32 land_u64),
        ("lor", 'i' | 'u') => of_width!(bytes, lor_u8 lor_u16 lor_u32 lor_u64),
        ("lxor", 'i' | 'u') => of_width!(bytes, lxor_u8 lxor_u16 lxor_u32 lxor_u64),
        ("sum", 'f') if bytes == 4 => sum_f32::pick(),
        ("sum", 'f') if bytes == 8 => sum_f64::pick(),
        ("prod", 'f') if bytes == 4 => prod_f32::pick(),
        ("prod", 'f') if bytes == 8 => prod_f64::pick(),
        ("max", 'f') if bytes == 4 => max_f32::pick(),
        ("max", 'f') if bytes == 8 => max_f64::pick(),
        ("min", 'f') if bytes == 4 => min_f32::pick(),
        ("min", 'f') if bytes == 8 => min_f64::pick(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply<T: Copy>(op: &str, class: char, a: &[T], b: &[T]) -> Vec<T> {
        let f = builtin(op, class, size_of::<T>()).unwrap();
        let mut out = b.to_vec();
        // SAFETY: both slices have the same length.
        unsafe { f(std::ptr::null_mut(), a.as_ptr().cast(), out.as_mut_ptr().cast(), a.len()) };
        out
    }

    #[test]
    fn operators_do_what_they_say() {
        assert_eq!(apply("sum", 'i', &[1i32, -2, i32::MAX], &[10, 20, 1]), [11, 18, i32::MIN]);
        assert_eq!(apply("max", 'i', &[-1i8, 5], &[3, -7]), [3, 5]);
        assert_eq!(apply("max", 'u', &[255u8, 5], &[3, 7]), [255, 7]);
        assert_eq!(apply("min", 'f', &[1.5f64, -2.0], &[0.5, 3.0]), [0.5, -2.0]);
        assert_eq!(apply("land", 'i', &[2i16, 0, 7], &[4, 1, 0]), [1, 0, 0]);
        assert_eq!(apply("lxor", 'u', &[2u64, 0, 7], &[4, 1, 0]), [0, 1, 1]);
        assert_eq!(apply("prod", 'f', &[1.5f32; 9], &[2.0; 9]), [3.0; 9]);
        assert!(builtin("sum", 'f', 16).is_none() && builtin("band", 'f', 8).is_none());
    }
}
