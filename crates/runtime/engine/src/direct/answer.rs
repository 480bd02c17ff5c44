//! What a node says in a direct collective, put together from what its ranks and the other nodes have said.

use super::description::{Description, MAX_MEMBERS};
use crate::collective::call::{Call, CollectiveKind};
use crate::reduction::fold::fold;
use crate::reduction::operators::numbered;
use evenkeel_datagram::MAX_STATEMENT_BYTES;
use evenkeel_segment::statements::{DATA_BYTES, Data, Statements};
use evenkeel_segment::sync::Words;

/// Data, where the processor likes to find numbers.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Aligned(pub Data);

impl Default for Aligned {
    fn default() -> Aligned {
        Aligned([0; DATA_BYTES])
    }
}

/// A statement as it travels: the description, and data up to a multiple of four bytes.
pub struct Content {
    bytes: [u8; MAX_STATEMENT_BYTES],
    length: usize,
}

impl Content {
    /// What a node says in this collective.
    pub fn new(description: Description, data: &Aligned) -> Content {
        const { assert!(MAX_STATEMENT_BYTES == 4 + DATA_BYTES) };
        let mut bytes = [0; MAX_STATEMENT_BYTES];
        bytes[..4].copy_from_slice(&description.to_word().to_le_bytes());
        bytes[4..].copy_from_slice(&data.0);
        Content { bytes, length: 4 + description.bytes.next_multiple_of(4) }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Combines parts, at least one, in their order. The description must be one of a call, or `None` is
/// returned: its operator or length does not exist.
pub fn combine(description: Description, parts: &[Aligned]) -> Option<Aligned> {
    let mut result = parts[0];
    if description.kind == CollectiveKind::Barrier || parts.len() == 1 {
        return Some(result);
    }
    let (function, element) = numbered(description.operator)?;
    if description.bytes > DATA_BYTES || description.bytes % element != 0 {
        return None;
    }
    let call = Call { combine: Some(function), elem_bytes: element, ..Call::empty(description.kind) };
    let mut sources = [std::ptr::null(); MAX_MEMBERS];
    let sources = &mut sources[..parts.len()];
    sources.iter_mut().zip(parts).for_each(|(source, part)| *source = part.0.as_ptr());
    // SAFETY: each part, and the result, has room for the elements; a built-in operator needs no context.
    unsafe { fold(&call, sources, result.0.as_mut_ptr(), description.bytes / element) };
    Some(result)
}

/// The result of a collective at its hub, if all nodes have said what they contribute. `parts` is room to
/// work in.
pub fn result<M: Words>(
    statements: &Statements<M>,
    number: u64,
    description: Description,
    parts: &mut Vec<Aligned>,
) -> Option<Aligned> {
    parts.clear();
    for node in 0..statements.geometry.nodes {
        let mut part = Aligned::default();
        if !statements.read(number, node, description.bytes, &mut part.0) {
            return None;
        }
        parts.push(part);
    }
    combine(description, parts)
}

/// What node `here` has to say to node `to` in a collective, if it can say it now. Ranks may be carrying out
/// the collective meanwhile.
pub fn answer<M: Words>(
    statements: &Statements<M>,
    number: u64,
    here: usize,
    to: usize,
) -> Option<(Description, Aligned)> {
    let description = Description::from_word(statements.described(number, here)?);
    let mut own = Aligned::default();
    if description.bytes > DATA_BYTES || !statements.read(number, here, description.bytes, &mut own.0) {
        return None;
    }
    let nodes = statements.geometry.nodes;
    if !description.tells(here, to, nodes) {
        return None;
    }
    if here == description.hub && description.gathers() && !description.is_exchange(nodes) {
        let word = Some(description.to_word());
        let all_say_so = (0..nodes).all(|node| statements.described(number, node) == word);
        let result = all_say_so.then(|| result(statements, number, description, &mut Vec::new()))??;
        return Some((description, result));
    }
    Some((description, own))
}
