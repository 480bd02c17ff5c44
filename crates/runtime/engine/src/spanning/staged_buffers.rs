//! Memory of a rank for one piece of a collective across nodes, where the program's buffers will not do.
//!
//! What is sent is packed when the piece begins, and what is received is put into the program's buffer when
//! the piece is done. The collectives within the node point into this memory in between.

use crate::collective::call::{Call, CollectiveKind as Kind, Span};
use crate::copy::copy;
use evenkeel_spanning::SpanningCall;
use evenkeel_spanning::cut::Piece;
use evenkeel_spanning::staging::Staging;

/// Staged memory of one piece.
pub(super) struct StagedBuffers {
    send: Vec<u8>,
    receive: Vec<u8>,
    /// What is received, and where it belongs in the program's buffer; None: it is received there.
    received: Option<Staging>,
    /// At the root of a gather or scatter: where the blocks of the node's members lie and, last, what the
    /// agent contributes or gets.
    spans: Vec<Span>,
}

impl StagedBuffers {
    /// For one piece of a call. `shape`: the same call as the arithmetic of pieces sees it.
    pub(super) fn new(call: &Call, shape: &SpanningCall<'_>, piece: Piece) -> StagedBuffers {
        let packed = |staging: Staging| {
            let user = match staging.user_bytes() {
                0 => &[], // the program may have no buffer
                // SAFETY: the stretches lie within the program's send buffer.
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

    /// Where to send from; None: from the program's buffer.
    pub(super) fn send_pointer(&self) -> Option<*const u8> {
        (!self.send.is_empty()).then_some(self.send.as_ptr())
    }

    /// Where to receive; None: in the program's buffer.
    pub(super) fn receive_pointer(&mut self) -> Option<*mut u8> {
        self.received.is_some().then_some(self.receive.as_mut_ptr())
    }

    /// At a gather's root: where the blocks of the members here belong, relative to the receive buffer,
    /// and what the agent contributes.
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

    /// At a scatter's root: where the blocks of the members here lie, relative to the send buffer, and those
    /// that the agent gets.
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

    /// Puts what has been received where the program wants it. `is_first_here`: the rank is the first on its
    /// node.
    pub(super) fn unstage(&self, call: &Call, is_first_here: bool) {
        let Some(received) = &self.received else { return };
        let is_combined = match call.kind() {
            Kind::Scan => true,
            Kind::Exscan => !is_first_here, // the first one here has got nothing from the ranks here
            _ => false,
        };
        for stretch in &received.stretches {
            let (from, to) =
                (self.receive.as_ptr().wrapping_add(stretch.staged), call.recv.wrapping_offset(stretch.user));
            if is_combined {
                let combine = call.combine.expect("a scan has an operator");
                let elements = stretch.bytes / call.elem_bytes.max(1);
                // SAFETY: both have so many elements: what the nodes before this one have, and what has come
                // of the ranks here.
                unsafe { combine(call.combine_context, from.cast(), to.cast(), elements) };
            } else {
                // In place, a reduce-scatter writes before all that later pieces still send: they have more
                // of each part, or of the vector.
                // SAFETY: within the staged memory and within the program's receive buffer.
                unsafe { copy(from, to, stretch.bytes) };
            }
        }
    }
}
