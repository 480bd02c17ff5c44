//! What a front end asks for: one collective call in terms of bytes, ranks and functions.
//!
//! Mirrors `struct ek_call` of `shims/include/evenkeel.h`, which says what each field means for each kind.

pub use evenkeel_spanning::{CollectiveKind as Kind, Span};

use evenkeel_schedule::deposits::Sources;
use std::ffi::c_void;

/// `inout[i] = in[i] op inout[i]` for `count` elements.
pub type Combine =
    unsafe extern "C" fn(context: *mut c_void, input: *const c_void, inout: *mut c_void, count: usize);

/// One collective call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Call {
    pub kind: u32,
    pub root: i32,
    pub bytes: usize,
    pub send: *const u8,
    pub recv: *mut u8,
    pub send_spans: *const Span,
    pub recv_spans: *const Span,
    pub combine: Option<Combine>,
    pub combine_context: *mut c_void,
    pub elem_bytes: usize,
}

impl Call {
    /// One that moves nothing, for tests to fill in: blocking barriers have a way of their own.
    #[cfg(test)]
    pub fn barrier() -> Call {
        Call {
            kind: Kind::Barrier as u32,
            root: 0,
            bytes: 0,
            send: std::ptr::null(),
            recv: std::ptr::null_mut(),
            send_spans: std::ptr::null(),
            recv_spans: std::ptr::null(),
            combine: None,
            combine_context: std::ptr::null_mut(),
            elem_bytes: 1,
        }
    }

    /// Whether rank `me` only hands something in and takes nothing out.
    pub fn leaves_at_once(&self, ranks: usize, me: usize) -> bool {
        self.kind().participation(ranks, self.root as usize, me).needs == Sources::Empty
    }

    #[inline(always)]
    pub fn kind(&self) -> Kind {
        Kind::ALL[self.kind as usize]
    }

    /// # Safety
    /// `send_spans` must hold an entry for `rank`.
    pub unsafe fn send_span(&self, rank: usize) -> Span {
        unsafe { *self.send_spans.add(rank) }
    }

    /// # Safety
    /// `recv_spans` must hold an entry for `rank`.
    pub unsafe fn recv_span(&self, rank: usize) -> Span {
        unsafe { *self.recv_spans.add(rank) }
    }
}
