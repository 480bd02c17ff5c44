//! The step language: what one rank does, one step after the other.

/// A member of the group that executes a schedule: 0, 1, … ranks − 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct Rank(pub u32);

/// One flag of a rank, by its index. Every rank has the same flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Flag(pub u32);

/// One counter of a rank, by its index. Every rank has the same counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Counter(pub u32);

/// One of the three vectors of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Buffer {
    /// The program's contribution. No step writes here.
    Input,
    /// The program's result. Outside of the epoch it belongs to the program, so other ranks may write
    /// here only once they know that the rank has entered.
    Output,
    /// The rank's part of the memory that all ranks can write to, in the bank of the epoch.
    Scratch,
}

/// An element of a rank's buffer, packed into 32 bits: 2 for the buffer, 30 for the element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place(u32);

impl Place {
    /// The number of elements that a place can address in one buffer.
    pub const MAX_ELEMENTS: u32 = 1 << 30;

    /// An element of a buffer.
    ///
    /// # Panics
    /// If `element` is not below [`Place::MAX_ELEMENTS`].
    pub const fn new(buffer: Buffer, element: u32) -> Place {
        assert!(element < Place::MAX_ELEMENTS);
        Place(((buffer as u32) << 30) | element)
    }
    /// An element of the input.
    pub const fn input(element: u32) -> Place {
        Place::new(Buffer::Input, element)
    }
    /// An element of the output.
    pub const fn output(element: u32) -> Place {
        Place::new(Buffer::Output, element)
    }
    /// An element of the scratch.
    pub const fn scratch(element: u32) -> Place {
        Place::new(Buffer::Scratch, element)
    }
    /// The buffer.
    pub const fn buffer(self) -> Buffer {
        match self.0 >> 30 {
            0 => Buffer::Input,
            1 => Buffer::Output,
            _ => Buffer::Scratch,
        }
    }
    /// The index of the element in its buffer.
    pub const fn element(self) -> u32 {
        self.0 & (Place::MAX_ELEMENTS - 1)
    }
    /// The place `elements` further on in the same buffer.
    pub const fn plus(self, elements: u32) -> Place {
        Place::new(self.buffer(), self.element() + elements)
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?}[{}]", self.buffer(), self.element())
    }
}

/// Ranks at equal distances: `first`, `first + stride`, …, `count` of them. The set may contain the rank
/// whose step names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RankSet {
    /// The lowest rank.
    pub first: Rank,
    /// How many ranks.
    pub count: u32,
    /// The distance between neighbours, at least 1.
    pub stride: u32,
}

impl RankSet {
    /// `count` consecutive ranks from `first` on.
    pub const fn range(first: Rank, count: u32) -> RankSet {
        RankSet { first, count, stride: 1 }
    }
    /// The ranks in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Rank> {
        (0..self.count).map(move |i| Rank(self.first.0 + i * self.stride))
    }
    /// Whether the set contains a rank.
    pub fn contains(self, rank: Rank) -> bool {
        rank >= self.first
            && (rank.0 - self.first.0) % self.stride == 0
            && (rank.0 - self.first.0) / self.stride < self.count
    }
}

/// One step of a rank. Lengths are in elements.
///
/// Puts and sends do not make the rank wait. Between the same two ranks one message may overtake another.
/// A flag never falls: if a raise arrives after a higher one, it has no effect. The data of a
/// [`Send`](Step::Send) arrives before its flag rises. `turn` distinguishes the uses of one flag within
/// an epoch ([`flag_value`](crate::flag_value)); it is 1 for a flag that is raised once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Raises a flag of another rank to this epoch's value: one small message.
    Put {
        /// The rank whose flag rises.
        to: Rank,
        /// The flag.
        flag: Flag,
        /// The use of the flag within the epoch, from 1.
        turn: u16,
    },
    /// Raises the same flag at every rank of a set: one multicast if the network has it, otherwise one
    /// put for each rank.
    Multicast {
        /// The ranks whose flags rise.
        to: RankSet,
        /// The flag.
        flag: Flag,
        /// The use of the flag within the epoch, from 1.
        turn: u16,
    },
    /// Copies elements into a buffer of another rank, then raises its flag (a put with signal). The
    /// sender may change the elements as soon as the step is done.
    Send {
        /// The receiver.
        to: Rank,
        /// The receiver's flag.
        flag: Flag,
        /// The use of the flag within the epoch, from 1.
        turn: u16,
        /// The elements are those of the previous step, so that a network interface that can repeat a
        /// message need not read them again (multi-send).
        is_repeat: bool,
        /// The elements in the sender's buffer.
        from: Place,
        /// Their destination in the receiver's buffer.
        at: Place,
        /// How many.
        length: u32,
    },
    /// Writes elements into the same place at every rank, the sender included: one write into a memory
    /// that is replicated to all (reflective memory, a shared segment). A rank may read them once it has
    /// seen a flag or a counter that was changed after the write.
    Share {
        /// The elements in the sender's buffer.
        from: Place,
        /// Their destination at every rank.
        at: Place,
        /// How many.
        length: u32,
    },
    /// Waits until the rank's own flag has reached this epoch's value of `turn`. With turn 0 it waits for
    /// the last value of the bank's previous use.
    Wait {
        /// The flag.
        flag: Flag,
        /// The use of the flag within the epoch, or 0.
        turn: u16,
    },
    /// Adds one to a counter and does not wait for an answer.
    Add {
        /// The rank that owns the counter.
        at: Rank,
        /// The counter.
        counter: Counter,
    },
    /// Adds one to a counter and waits for the new value. The rank that makes it reach this epoch's
    /// multiple of `of` continues with the next step; the others continue with round `otherwise`.
    Count {
        /// The rank that owns the counter.
        at: Rank,
        /// The counter.
        counter: Counter,
        /// How many additions an epoch makes.
        of: u32,
        /// A later round.
        otherwise: u32,
    },
    /// Waits until the rank's own counter has reached this epoch's multiple of `of`.
    AwaitCount {
        /// The counter.
        counter: Counter,
        /// How many additions an epoch makes.
        of: u32,
        /// Wait for the multiple of the bank's previous use instead.
        previous: bool,
    },
    /// `into = first ∘ second`, element by element. `into` may be one of the two operands.
    Combine {
        /// The result.
        into: Place,
        /// The left operand.
        first: Place,
        /// The right operand.
        second: Place,
        /// How many elements.
        length: u32,
    },
    /// Copies elements between the rank's own buffers.
    Copy {
        /// The elements to copy.
        from: Place,
        /// Their destination.
        into: Place,
        /// How many.
        length: u32,
    },
}

const _: () = assert!(size_of::<Step>() <= 24, "simulators store many steps");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_keeps_its_buffer_and_element() {
        for buffer in [Buffer::Input, Buffer::Output, Buffer::Scratch] {
            for element in [0, 7, Place::MAX_ELEMENTS - 1] {
                let place = Place::new(buffer, element);
                assert_eq!((place.buffer(), place.element()), (buffer, element));
            }
        }
        assert_eq!(Place::scratch(3).plus(4), Place::scratch(7));
    }

    #[test]
    fn a_set_contains_the_ranks_it_lists() {
        let set = RankSet { first: Rank(2), count: 3, stride: 4 };
        let listed: Vec<Rank> = set.iter().collect();
        assert_eq!(listed, [2, 6, 10].map(Rank));
        for rank in (0..16).map(Rank) {
            assert_eq!(set.contains(rank), listed.contains(&rank), "{rank:?}");
        }
    }
}
