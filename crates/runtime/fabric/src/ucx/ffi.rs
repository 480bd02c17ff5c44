//! UCX's types and constants, as far as they are used here, from `ucp/api/ucp.h` of version 1.11 and later.
//!
//! UCX only ever appends to its structures; a mask in each says which fields are set. `tests/layout.rs`
//! compares the structures with the header, where that is installed.

#![allow(missing_docs, reason = "named and described by ucp.h")]

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `ucs_status_t`, one byte in C, too (`UCS_S_PACKED`).
pub type Status = i8;
pub const OK: Status = 0;
pub const IN_PROGRESS: Status = 1;
pub const ERR_NO_ELEM: Status = -12;
pub const ERR_BUSY: Status = -15;
pub const ERR_LAST: isize = -100;

/// What nonblocking calls return: null, a request, or a status disguised as a pointer.
pub type StatusPtr = *mut c_void;

#[repr(C)]
pub struct Params {
    pub field_mask: u64,
    pub features: u64,
    pub request_size: usize,
    pub request_init: *const c_void,
    pub request_cleanup: *const c_void,
    pub tag_sender_mask: u64,
    pub mt_workers_shared: c_int,
    pub estimated_num_eps: usize,
    pub estimated_num_ppn: usize,
    pub name: *const c_char,
}
pub const PARAM_FEATURES: u64 = 1 << 0;
pub const PARAM_ESTIMATED_NUM_EPS: u64 = 1 << 6;
pub const FEATURE_RMA: u64 = 1 << 1;
pub const FEATURE_AMO64: u64 = 1 << 3;
pub const FEATURE_WAKEUP: u64 = 1 << 4;
pub const FEATURE_AM: u64 = 1 << 6;

#[repr(C)]
pub struct WorkerParams {
    pub field_mask: u64,
    pub thread_mode: c_uint,
    pub cpu_mask: [u64; 16],
    pub events: c_uint,
    pub user_data: *mut c_void,
    pub event_fd: c_int,
    pub flags: u64,
    pub name: *const c_char,
    pub am_alignment: usize,
    pub client_id: u64,
}
pub const WORKER_PARAM_THREAD_MODE: u64 = 1 << 0;
pub const THREAD_MODE_SERIALIZED: c_uint = 1;

#[repr(C)]
pub struct SockAddr {
    pub addr: *const c_void,
    pub addrlen: u32,
}

#[repr(C)]
pub struct EpParams {
    pub field_mask: u64,
    pub address: *const c_void,
    pub err_mode: c_uint,
    pub err_handler_cb: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, Status)>,
    pub err_handler_arg: *mut c_void,
    pub user_data: *mut c_void,
    pub flags: c_uint,
    pub sockaddr: SockAddr,
    pub conn_request: *mut c_void,
    pub name: *const c_char,
    pub local_sockaddr: SockAddr,
}
pub const EP_PARAM_REMOTE_ADDRESS: u64 = 1 << 0;
pub const EP_PARAM_ERR_HANDLING_MODE: u64 = 1 << 1;
pub const EP_PARAM_ERR_HANDLER: u64 = 1 << 2;
pub const ERR_HANDLING_MODE_PEER: c_uint = 1;
pub const EP_CLOSE_FLAG_FORCE: u32 = 1;

#[repr(C)]
pub struct MemMapParams {
    pub field_mask: u64,
    pub address: *mut c_void,
    pub length: usize,
    pub flags: c_uint,
    pub prot: c_uint,
    pub memory_type: c_uint,
}
pub const MEM_MAP_PARAM_ADDRESS: u64 = 1 << 0;
pub const MEM_MAP_PARAM_LENGTH: u64 = 1 << 1;

pub type AmCallback =
    unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void, usize, *const AmRecvParam) -> Status;

#[repr(C)]
pub struct AmHandlerParam {
    pub field_mask: u64,
    pub id: c_uint,
    pub flags: u32,
    pub cb: Option<AmCallback>,
    pub arg: *mut c_void,
}
pub const AM_HANDLER_ID: u64 = 1 << 0;
pub const AM_HANDLER_FLAGS: u64 = 1 << 1;
pub const AM_HANDLER_CB: u64 = 1 << 2;
pub const AM_HANDLER_ARG: u64 = 1 << 3;
pub const AM_FLAG_WHOLE_MSG: u32 = 1 << 0;

#[repr(C)]
pub struct AmRecvParam {
    pub recv_attr: u64,
    pub reply_ep: *mut c_void,
}
pub const AM_RECV_ATTR_FLAG_RNDV: u64 = 1 << 17;

#[repr(C)]
pub struct RequestParam {
    pub op_attr_mask: u32,
    pub flags: u32,
    pub request: *mut c_void,
    pub cb: *const c_void,
    pub datatype: u64,
    pub user_data: *mut c_void,
    pub reply_buffer: *mut c_void,
    pub memory_type: c_uint,
    pub recv_info: *mut c_void,
    pub memh: *mut c_void,
}
pub const OP_ATTR_DATATYPE: u32 = 1 << 3;
pub const OP_ATTR_FLAGS: u32 = 1 << 4;
pub const OP_ATTR_REPLY_BUFFER: u32 = 1 << 5;
/// `ucp_dt_make_contig(8)`
pub const DATATYPE_8_BYTES: u64 = 8 << 3;

impl RequestParam {
    /// Parameters without any of the optional ones.
    pub fn plain() -> RequestParam {
        // SAFETY: all-zero is a valid value of every field, and the mask says that none is set.
        unsafe { std::mem::zeroed() }
    }
}

pub const ATOMIC_ADD: c_uint = 0;
pub const ATOMIC_SWAP: c_uint = 1;
pub const ATOMIC_CSWAP: c_uint = 2;
pub const ATOMIC_AND: c_uint = 3;
pub const ATOMIC_OR: c_uint = 4;
pub const ATOMIC_XOR: c_uint = 5;
