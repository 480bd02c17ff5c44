//! A call of the program as the shim describes it for the times (`--trace-level times`).

use std::ffi::c_char;

/// Room for a function's name.
pub const EK_TIMES_NAME_BYTES: usize = 40;

const _: () = assert!(EK_TIMES_NAME_BYTES == evenkeel_trace::times::format::OPEN_NAME_BYTES);

/// A function of MPI.
#[repr(C)]
#[derive(Debug)]
pub struct TimedFunction {
    /// Its name and zeros.
    pub name: [c_char; 40],
}

/// Which call this rank is in, for those who read the file if it is killed there.
#[repr(C)]
#[derive(Debug)]
pub struct OpenCall {
    /// When it was entered; 0: the rank is in none.
    pub entry: u64,
    /// As of ek_timed_call.
    pub peer: i32,
    /// As of ek_timed_call.
    pub tag: i32,
    /// The function.
    pub name: [c_char; 40],
}

/// A request that the call has completed or started.
#[repr(C)]
#[derive(Debug)]
pub struct TimedRequest {
    /// The handle; 0: nothing is to be noted.
    pub handle: usize,
    /// Which receive it was when the call began, see ek_times_receive_of; 0: none. Afterwards another thread
    /// may have a receive with the same handle.
    pub receive: u64,
    /// Bytes of the message that a receive got; negative: not known.
    pub bytes: i64,
    /// Where it came from; EK_TIMES_NO_PEER: it got none.
    pub source: i32,
    /// The tag of the message.
    pub tag: i32,
}

/// A call of the program. Calls with the same fields from `function` to `marks` need to be described once.
#[repr(C)]
#[derive(Debug)]
pub struct TimedCall {
    /// The function.
    pub function: *const TimedFunction,
    /// The address that it returns to, in the program.
    pub site: usize,
    /// The handle of the communicator, or 0.
    pub comm: usize,
    /// The handle of the datatype, or 0.
    pub datatype: usize,
    /// Elements; bytes if there is no datatype; negative: not known.
    pub count: i64,
    /// Bytes that were received by a call that has sent, too; or the receive's capacity; negative: not known.
    pub second_bytes: i64,
    /// Rank, or one of EK_TIMES_….
    pub peer: i32,
    /// Tag, or one of EK_TIMES_….
    pub tag: i32,
    /// The same of the receive of a call that sends, too.
    pub second_peer: i32,
    /// The same.
    pub second_tag: i32,
    /// What it does to messages: EK_TIMES_ROLE_….
    pub role: u32,
    /// EK_TIMES_FAILED and its like.
    pub marks: u32,
    /// Ticks.
    pub entry: u64,
    /// The request of the receive that it has posted; 0: none.
    pub posted: usize,
    /// Requests that it has completed, or started.
    pub requests: *const TimedRequest,
    /// How many.
    pub request_count: i32,
    /// They were started.
    pub starts: bool,
    /// The calling thread's number, from 0.
    pub thread: u32,
}

/// What is to be known of a call once.
#[repr(C)]
#[derive(Debug)]
pub struct TimedShape {
    /// The number of the communicator, or 0.
    pub comm: u32,
    /// Bytes; negative: not known.
    pub bytes: i64,
}

impl TimedCall {
    /// A hash of all that makes a shape, and of `generation`: what handles meant then.
    #[inline]
    pub(super) fn hash(&self, generation: u64) -> u64 {
        let pair = |low: i32, high: i32| low as u32 as u64 | (high as u32 as u64) << 32;
        let words = [
            (self.function as u64, self.site as u64),
            (self.comm as u64, self.datatype as u64),
            (self.count as u64, self.second_bytes as u64),
            (pair(self.peer, self.tag), pair(self.second_peer, self.second_tag)),
            (u64::from(self.marks) | u64::from(self.role) << 8, generation),
        ];
        // Folded multiplication, as in wyhash: every bit depends on all bits before.
        let mut hash = 0xa076_1d64_78bd_642f;
        for (one, other) in words {
            let product = u128::from(one ^ hash) * u128::from(other ^ 0xe703_7ed1_a0b4_28db);
            hash = (product as u64) ^ (product >> 64) as u64 ^ hash.rotate_left(23);
        }
        hash | 1
    }
}
