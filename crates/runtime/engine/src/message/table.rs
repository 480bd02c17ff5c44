//! The queues of all communicators, by id, and spare memory for sends and receives.

use super::matching::Queues;
use super::request::{Message, UnexpectedMessage};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for ids of communicators. Their lower bits differ already.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("ids are u64");
    }
    fn write_u64(&mut self, id: u64) {
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

pub(super) type Queue = Queues<*mut Message, UnexpectedMessage>;

/// Queues by communicator.
#[derive(Default)]
pub(super) struct Table {
    /// Boxed, so that an address stays valid when other entries are added or removed.
    all: HashMap<u64, Box<Queue>, BuildHasherDefault<IdHasher>>,
    /// The entry that was used last.
    last: Option<(u64, *mut Queue)>,
}

impl Table {
    /// The queues of a communicator, made now if it has none.
    #[inline(always)]
    pub(super) fn of(&mut self, comm: u64) -> &mut Queue {
        match self.last {
            // SAFETY: valid until `remove`, which resets `last`; exclusive because the table is.
            Some((id, queue)) if id == comm => unsafe { &mut *queue },
            _ => self.look_up(comm),
        }
    }

    #[cold]
    fn look_up(&mut self, comm: u64) -> &mut Queue {
        let queue: *mut Queue = &mut **self.all.entry(comm).or_default();
        self.last = Some((comm, queue));
        // SAFETY: as above.
        unsafe { &mut *queue }
    }

    pub(super) fn get(&mut self, comm: u64) -> Option<&mut Queue> {
        self.all.get_mut(&comm).map(|q| &mut **q)
    }

    pub(super) fn remove(&mut self, comm: u64) {
        self.all.remove(&comm);
        self.last = None;
    }
}

/// The memory of finished sends and receives, for reuse: each call needs some, and few are in progress at
/// once.
#[derive(Default)]
pub(super) struct Pool(Vec<*mut Message>);

impl Pool {
    const MOST: usize = 256;

    #[inline(always)]
    pub(super) fn take(&mut self, message: Message) -> *mut Message {
        match self.0.pop() {
            Some(place) => {
                // SAFETY: from `give_back`: allocated, and not used by anything else.
                unsafe { place.write(message) };
                place
            }
            None => Box::into_raw(Box::new(message)),
        }
    }

    /// # Safety
    /// `message` must come from `take` and must not be used again.
    #[inline(always)]
    pub(super) unsafe fn give_back(&mut self, message: *mut Message) {
        if self.0.len() < Self::MOST {
            self.0.push(message);
        } else {
            // SAFETY: made by `Box::into_raw`, by the caller's promise.
            drop(unsafe { Box::from_raw(message) });
        }
    }
}
