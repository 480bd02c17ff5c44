//! What ranks tell each other about themselves before they share memory.

/// What a rank tells the others before they share memory: plain bytes, exchanged through the host MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Card {
    pub(crate) interface: u32,
    pub(crate) version: u32,
    pub(crate) pid: u32,
    pub(crate) descriptor: i32,
    pub(crate) flags: u32,
    /// CPU quota in thousandths of a core; 0 = none.
    pub(crate) quota: u32,
    /// What the kernel schedules this process by, if that is its session; 0 otherwise.
    pub(crate) session: u32,
    /// Fingerprint of its table of schedules; 0: it has none.
    pub(crate) table: u32,
    pub(crate) boot: u64,
    pub(crate) namespaces: u64,
    pub(crate) token: u64,
    /// Where `PROBE` stands in this process: the others try to read it.
    pub(crate) probe: u64,
    /// The first 256 cores this process may use, one bit each.
    pub(crate) cores: [u64; 4],
}

const _: () = assert!(size_of::<Card>() <= 96, "ek_process_info");

/// 64-bit words of a card.
pub const CARD_WORDS: usize = 12;

impl Card {
    /// The card as numbers, to be told where bytes cannot be.
    pub fn to_words(&self) -> [u64; CARD_WORDS] {
        let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let [a, b, c, d] = self.cores;
        [
            pair(self.interface, self.version),
            pair(self.pid, self.descriptor as u32),
            pair(self.flags, self.quota),
            pair(self.session, self.table),
            self.boot,
            self.namespaces,
            self.token,
            self.probe,
            a,
            b,
            c,
            d,
        ]
    }

    pub fn from_words(words: [u64; CARD_WORDS]) -> Card {
        let half = |i: usize| [words[i / 2] as u32, (words[i / 2] >> 32) as u32][i % 2];
        Card {
            interface: half(0),
            version: half(1),
            pid: half(2),
            descriptor: half(3) as i32,
            flags: half(4),
            quota: half(5),
            session: half(6),
            table: half(7),
            boot: words[4],
            namespaces: words[5],
            token: words[6],
            probe: words[7],
            cores: [words[8], words[9], words[10], words[11]],
        }
    }
}

impl Card {
    /// Whether the two processes share a kernel and see each other in it.
    pub(crate) fn shares_node_with(&self, other: &Card) -> bool {
        other.boot == self.boot && other.namespaces == self.namespaces
    }
}

pub(crate) const ENABLED: u32 = 1;
pub(crate) const FENCES: u32 = 2;
pub(crate) const READS: u32 = 4;
/// No barrier of it is ever deferred.
pub(crate) const STRICT: u32 = 8;
/// Several of its threads may be in MPI.
pub(crate) const THREADED: u32 = 16;
/// It would have agents carry collectives between nodes.
pub(crate) const ACROSS: u32 = 32;
