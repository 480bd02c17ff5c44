//! What a process tells the others about itself before they share memory.

/// The description of a process that all processes of the job exchange in `MPI_Init` through the host
/// library, as plain bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ProcessInfo {
    /// Version of the interface between shim and engine. Processes with different versions do not share
    /// memory.
    pub(crate) interface: u32,
    /// Hash of the version and of the segment's layout. Processes with different hashes do not share
    /// memory.
    pub(crate) version: u32,
    pub(crate) pid: u32,
    /// Descriptor of the segment that it offers; -1 if it offers none.
    pub(crate) descriptor: i32,
    /// [`ENABLED`] and the other flags.
    pub(crate) flags: u32,
    /// CPU quota in thousandths of a core; 0 if it has none.
    pub(crate) quota: u32,
    /// Its session, if the kernel schedules processes by session; 0 otherwise.
    pub(crate) session: u32,
    /// Fingerprint of its barrier table; 0 if it has none.
    pub(crate) table: u32,
    /// Hash of the kernel's boot id.
    pub(crate) boot: u64,
    /// Hash of its PID and UTS namespaces.
    pub(crate) namespaces: u64,
    /// The token of its segment.
    pub(crate) token: u64,
    /// Address of a word of this process that other processes try to read.
    pub(crate) probe: u64,
    /// The first 256 cores this process may use, one bit each.
    pub(crate) cores: [u64; 4],
}

const _: () = assert!(size_of::<ProcessInfo>() <= 96, "ek_process_info");

/// The size of a [`ProcessInfo`] in 64-bit words.
pub const PROCESS_INFO_WORDS: usize = 12;

impl ProcessInfo {
    /// The same as numbers, for ways of communication that carry only numbers.
    pub fn to_words(&self) -> [u64; PROCESS_INFO_WORDS] {
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

    /// The inverse of [`ProcessInfo::to_words`].
    pub fn from_words(words: [u64; PROCESS_INFO_WORDS]) -> ProcessInfo {
        let half = |i: usize| [words[i / 2] as u32, (words[i / 2] >> 32) as u32][i % 2];
        ProcessInfo {
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

impl ProcessInfo {
    /// Tells its node from others. Processes of one node share a kernel and see each other in it.
    pub(crate) fn node(&self) -> (u64, u64) {
        (self.boot, self.namespaces)
    }

    /// Returns whether the two processes are on one node.
    pub(crate) fn shares_node_with(&self, other: &ProcessInfo) -> bool {
        self.node() == other.node()
    }
}

/// The process takes part: evenkeel is switched on and works there.
pub(crate) const ENABLED: u32 = 1;
/// Other processes can make it execute a fence (`membarrier`).
pub(crate) const FENCES: u32 = 2;
/// Other processes may read its memory.
pub(crate) const READS: u32 = 4;
/// Its barriers are never deferred.
pub(crate) const STRICT: u32 = 8;
/// Several of its threads may be in MPI.
pub(crate) const THREADED: u32 = 16;
/// It wants agents to carry out collectives between nodes.
pub(crate) const AGENTS: u32 = 32;
/// It may carry small collectives between nodes itself: its barriers are never deferred.
pub(crate) const DIRECT: u32 = 64;
/// It wants the host library to carry collectives between nodes where that is faster.
pub(crate) const TRIES: u32 = 128;

/// A number that identifies a boot of a machine.
pub fn boot_id() -> u64 {
    std::fs::read("/proc/sys/kernel/random/boot_id").map_or(0, |bytes| hash(&bytes))
}

/// A number for the part of the machine that this process sees. Processes with a host name of their own
/// count as a host of their own. MPI libraries use the same rule, and virtual hosts of one machine may see
/// each other's processes.
pub(super) fn namespaces() -> u64 {
    let hash_link =
        |path: &str| std::fs::read_link(path).map_or(0, |target| hash(target.as_os_str().as_encoded_bytes()));
    hash_link("/proc/self/ns/pid") ^ hash_link("/proc/self/ns/uts").rotate_left(1)
}

/// FNV-1a.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}
