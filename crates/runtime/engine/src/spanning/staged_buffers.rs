//! A rank's memory for one piece of a collective across nodes, for cases in which the program's buffers
//! cannot be used directly.
//!
//! Data to send is packed when the piece starts, and received data is copied to the program's buffer when
//! the piece is done. In between, the collectives within the node use this memory.

use crate::collective::call::{Call, CollectiveKind as Kind, Span};
use crate::copy::copy;
use evenkeel_spanning::SpanningCall;
use evenkeel_spanning::cut::Piece;
use evenkeel_spanning::staging::Staging;

/// The staged memory of one piece.
pub(super) struct StagedBuffers {
    send: Vec<u8>,
    receive: Vec<u8>,
    /// Where the received data belongs in the program's buffer; `None` if it is received there directly.
    received: Option<Staging>,
    /// At the root of a gather or scatter: the places of the blocks of the node's members and, last, of the
    /// data that the agent contributes or receives.
    spans: Vec<Span>,
}

impl StagedBuffers {
    /// For one piece of a call. `shape` is the same call in the form that the computation of pieces needs.
    pub(super) fn new(call: &Call, shape: &SpanningCall<'_>, piece: Piece) -> StagedBuffers {
        let packed = |staging: Staging| {
            let user = match staging.user_bytes() {
                0 => &[], // the program may have no buffer
                // SAFETY: the staging stays within the program's send buffer.
                bytes => unsafe { std::slice::from_raw_parts(call.send, bytes) },
            };
            staging.pack(user)
        };
        let received = shape.staged_receive(piece);
        StagedBuffers {
            send: shape.staged_send(piece).map(packed).unwrap_or_default(),
            receive: received.as_ref().map(|staging| vec![0; staging.bytes]).unwrap_or_default(),
            received,
            spans: Vec::new(),
        }
    }

    /// Where to send from; `None` means the program's buffer.
    pub(super) fn send_pointer(&self) -> Option<*const u8> {
        (!self.send.is_empty()).then_some(self.send.as_ptr())
    }

    /// Where to receive; `None` means the program's buffer.
    pub(super) fn receive_pointer(&mut self) -> Option<*mut u8> {
        self.received.is_some().then_some(self.receive.as_mut_ptr())
    }

    /// At a gather's root: the places of the blocks of the members here, relative to the receive buffer,
    /// and of the agent's contribution.
    pub(super) fn gather_spans(
        &mut self,
        shape: &SpanningCall<'_>,
        recv: *mut u8,
        piece: Piece,
    ) -> *const Span {
        let offset = (self.receive.as_mut_ptr() as isize).wrapping_sub(recv as isize);
        let from_agent = Span { offset, bytes: self.receive.len() };
        self.spans = shape.member_spans(piece).chain([from_agent]).collect();
        self.spans.as_ptr()
    }

    /// At a scatter's root: the places of the blocks of the members here, relative to the send buffer, and
    /// of the blocks that the agent receives.
    pub(super) fn scatter_spans(
        &mut self,
        shape: &SpanningCall<'_>,
        send: *const u8,
        piece: Piece,
    ) -> *const Span {
        let offset = (self.send.as_ptr() as isize).wrapping_sub(send as isize);
        let to_agent = Span { offset, bytes: self.send.len() };
        self.spans = shape.member_spans(piece).chain([to_agent]).collect();
        self.spans.as_ptr()
    }

    /// Moves received data to the program's buffer. `is_first_here` says that the rank is the first one on
    /// its node.
    pub(super) fn unstage(&self, call: &Call, is_first_here: bool) {
        let Some(received) = &self.received else { return };
        let is_combined = match call.kind() {
            Kind::Scan => true,
            Kind::Exscan => !is_first_here, // the first rank here has received nothing from the ranks here
            _ => false,
        };
        for stretch in &received.stretches {
            let (from, to) =
                (self.receive.as_ptr().wrapping_add(stretch.staged), call.recv.wrapping_offset(stretch.user));
            if is_combined {
                let combine = call.combine.expect("a scan has an operator");
                let elements = stretch.bytes / call.elem_bytes.max(1);
                // SAFETY: both hold this many elements: the result of the nodes before this one, and that of
                // the ranks here.
                unsafe { combine(call.combine_context, from.cast(), to.cast(), elements) };
            } else {
                // An in-place reduce-scatter may overwrite its input here: what later pieces still send
                // lies behind what this piece writes, in each part or in the vector. SAFETY: within the
                // staged memory and within the program's receive buffer.
                unsafe { copy(from, to, stretch.bytes) };
            }
        }
    }
}
