//! The step language: what one rank does, one thing after the other.

/// A member of the group that runs a schedule: 0, 1, … ranks − 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct Rank(pub u32);

/// One flag of a rank. Every rank has the same flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Flag(pub u32);

/// One counter of a rank. Every rank has the same counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Counter(pub u32);

/// Which of a rank's three vectors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Buffer {
    /// What the program hands in. Nobody writes here.
    Input,
    /// What the program gets. It is the program's outside of the epoch, so others may write here only once
    /// they know that the rank has entered.
    Output,
    /// The rank's part of the memory that all can write to, in the bank of the epoch.
    Scratch,
}

/// An element of a rank's buffer, packed into 32 bits: 30 of them count elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place(u32);

impl Place {
    /// Elements that a buffer can have.
    pub const MAX_ELEMENTS: u32 = 1 << 30;

    pub const fn new(buffer: Buffer, element: u32) -> Place {
        assert!(element < Place::MAX_ELEMENTS);
        Place(((buffer as u32) << 30) | element)
    }
    pub const fn input(element: u32) -> Place {
        Place::new(Buffer::Input, element)
    }
    pub const fn output(element: u32) -> Place {
        Place::new(Buffer::Output, element)
    }
    pub const fn scratch(element: u32) -> Place {
        Place::new(Buffer::Scratch, element)
    }
    pub const fn buffer(self) -> Buffer {
        match self.0 >> 30 {
            0 => Buffer::Input,
            1 => Buffer::Output,
            _ => Buffer::Scratch,
        }
    }
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

/// Ranks at equal distances: `first`, `first + stride`, …, `count` of them. It may contain the rank
/// that names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RankSet {
    pub first: Rank,
    pub count: u32,
    pub stride: u32,
}

impl RankSet {
    /// `count` ranks from `first` on.
    pub const fn range(first: Rank, count: u32) -> RankSet {
        RankSet { first, count, stride: 1 }
    }
    pub fn iter(self) -> impl Iterator<Item = Rank> {
        (0..self.count).map(move |i| Rank(self.first.0 + i * self.stride))
    }
    pub fn contains(self, rank: Rank) -> bool {
        rank >= self.first
            && (rank.0 - self.first.0) % self.stride == 0
            && (rank.0 - self.first.0) / self.stride < self.count
    }
}

/// One thing that a rank does. Lengths are in elements.
///
/// Puts and sends cost the rank no wait; between the same two ranks one may overtake another. A flag
/// never falls: if a raise arrives after a higher one, nothing happens. What a [`Send`](Step::Send)
/// brings is there before its flag is. `turn` tells uses of a flag in one epoch apart
/// ([`flag_value`](crate::flag_value)); it is 1 where a flag is raised once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Raises a flag of `to` to this epoch's value: one small message.
    Put { to: Rank, flag: Flag, turn: u16 },
    /// Raises the same flag at every rank of the set: one multicast if the wires have it, else as many puts.
    Multicast { to: RankSet, flag: Flag, turn: u16 },
    /// Copies `length` elements from my `from` to `at` of rank `to`, then raises its flag (a put with
    /// signal). My elements may change as soon as the step is done. `again`: the elements are those of the
    /// step before, so that a network interface that can repeat a message need not be handed them a second
    /// time (multi-send).
    Send { to: Rank, flag: Flag, turn: u16, is_repeat: bool, from: Place, at: Place, length: u32 },
    /// Writes `length` elements from my `from` to `at` of every rank, mine too: one write into a memory
    /// that is replicated to all (reflective memory, a shared segment). A rank may read them once it has
    /// seen a flag or a counter whose cause lies after the write.
    Share { from: Place, at: Place, length: u32 },
    /// Waits until my flag has reached this epoch's value of `turn`; with turn 0, until it has reached the
    /// last value of the bank's previous use.
    Wait { flag: Flag, turn: u16 },
    /// Adds one to a counter of `at` and does not wait for an answer.
    Add { at: Rank, counter: Counter },
    /// Adds one to a counter of `at` and waits for the answer. Who makes it reach this epoch's multiple of
    /// `of` goes on, the others go on with round `otherwise`, which lies further on.
    Count { at: Rank, counter: Counter, of: u32, otherwise: u32 },
    /// Waits until my counter has reached this epoch's multiple of `of`; if `previous`, that of the bank's
    /// previous use.
    AwaitCount { counter: Counter, of: u32, previous: bool },
    /// `into = first ∘ second`, element by element, `first` being the left operand. `into` may be one of
    /// the two.
    Combine { into: Place, first: Place, second: Place, length: u32 },
    /// Copies within my buffers.
    Copy { from: Place, into: Place, length: u32 },
}

const _: () = assert!(size_of::<Step>() <= 24, "simulators keep many of them");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_what_they_are_made_of() {
        for buffer in [Buffer::Input, Buffer::Output, Buffer::Scratch] {
            for element in [0, 7, Place::MAX_ELEMENTS - 1] {
                let place = Place::new(buffer, element);
                assert_eq!((place.buffer(), place.element()), (buffer, element));
            }
        }
        assert_eq!(Place::scratch(3).plus(4), Place::scratch(7));
    }

    #[test]
    fn sets_contain_what_they_list() {
        let set = RankSet { first: Rank(2), count: 3, stride: 4 };
        let listed: Vec<Rank> = set.iter().collect();
        assert_eq!(listed, [2, 6, 10].map(Rank));
        for rank in (0..16).map(Rank) {
            assert_eq!(set.contains(rank), listed.contains(&rank), "{rank:?}");
        }
    }
}
