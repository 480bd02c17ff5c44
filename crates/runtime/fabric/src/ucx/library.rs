//! The UCX library, found and loaded at run time.

use super::ffi::*;
use crate::node::NodeId;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// Why there is no fabric over UCX.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UcxError {
    /// The library, or a function of it, was not found.
    #[error("libucp.so.0 cannot be loaded: {0}. Install UCX 1.11 or later (Debian's package libucx0)")]
    NoLibrary(String),
    /// The library is too old.
    #[error("libucp.so.0 is version {0}; 1.11 is the oldest that will do. Install a later one")]
    TooOld(String),
    /// A call of UCX failed.
    #[error("UCX: {call} failed{}: {why}", .node.map(|n| format!(" for {n}")).unwrap_or_default())]
    Failed {
        /// The function of UCX.
        call: &'static str,
        /// The node that it was about, if it was about one.
        node: Option<NodeId>,
        /// What UCX says.
        why: String,
    },
    /// The addresses of the nodes are too few, or damaged.
    #[error("{0} addresses were given for a job of {1} nodes, or one of them is not an address")]
    Addresses(usize, usize),
    /// This node's memory could not be mapped.
    #[error("this node's memory: {0}")]
    Memory(String),
}

/// Declares the table of UCX's functions, and the function that fills it.
macro_rules! functions {
    ($($name:ident: fn($($type:ty),*) $(-> $result:ty)?;)*) => {
        /// UCX's functions, under their names in ucp.h without `ucp_`.
        #[allow(missing_docs, reason = "described by ucp.h")]
        pub struct UcxLibrary {
            $(pub $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
            pub status_string: unsafe extern "C" fn(Status) -> *const c_char,
            // Kept because the functions lie in them.
            _ucp: Library,
            _ucs: Library,
        }

        fn load() -> Result<UcxLibrary, UcxError> {
            let missing = |error: libloading::Error| UcxError::NoLibrary(error.to_string());
            let flags = RTLD_NOW | RTLD_LOCAL;
            // SAFETY: loading runs UCX's constructors, which are made for it.
            let ucp = unsafe { Library::open(Some("libucp.so.0"), flags) }.map_err(missing)?;
            // SAFETY: as above.
            let ucs = unsafe { Library::open(Some("libucs.so.0"), flags) }.map_err(missing)?;
            // SAFETY: the types are those of ucp.h.
            unsafe {
                Ok(UcxLibrary {
                    $($name: *ucp.get(
                        concat!("ucp_", stringify!($name), "\0").as_bytes()).map_err(missing)?,)*
                    status_string: *ucs.get(b"ucs_status_string\0").map_err(missing)?,
                    _ucp: ucp,
                    _ucs: ucs,
                })
            }
        }
    };
}

type Handle = *mut c_void;

functions! {
    get_version: fn(*mut c_uint, *mut c_uint, *mut c_uint);
    init_version: fn(c_uint, c_uint, *const Params, Handle, *mut Handle) -> Status;
    cleanup: fn(Handle);
    config_read: fn(*const c_char, *const c_char, *mut Handle) -> Status;
    config_modify: fn(Handle, *const c_char, *const c_char) -> Status;
    config_release: fn(Handle);
    worker_create: fn(Handle, *const WorkerParams, *mut Handle) -> Status;
    worker_destroy: fn(Handle);
    worker_get_address: fn(Handle, *mut Handle, *mut usize) -> Status;
    worker_release_address: fn(Handle, Handle);
    worker_get_efd: fn(Handle, *mut c_int) -> Status;
    worker_arm: fn(Handle) -> Status;
    worker_progress: fn(Handle) -> c_uint;
    worker_fence: fn(Handle) -> Status;
    worker_set_am_recv_handler: fn(Handle, *const AmHandlerParam) -> Status;
    ep_create: fn(Handle, *const EpParams, *mut Handle) -> Status;
    ep_close_nbx: fn(Handle, *const RequestParam) -> StatusPtr;
    ep_flush_nbx: fn(Handle, *const RequestParam) -> StatusPtr;
    mem_map: fn(Handle, *const MemMapParams, *mut Handle) -> Status;
    mem_unmap: fn(Handle, Handle) -> Status;
    rkey_pack: fn(Handle, Handle, *mut Handle, *mut usize) -> Status;
    rkey_buffer_release: fn(Handle);
    ep_rkey_unpack: fn(Handle, *const c_void, *mut Handle) -> Status;
    rkey_destroy: fn(Handle);
    put_nbx: fn(Handle, *const c_void, usize, u64, Handle, *const RequestParam) -> StatusPtr;
    atomic_op_nbx: fn(Handle, c_uint, *const c_void, usize, u64, Handle, *const RequestParam) -> StatusPtr;
    am_send_nbx:
        fn(Handle, c_uint, *const c_void, usize, *const c_void, usize, *const RequestParam) -> StatusPtr;
    am_recv_data_nbx: fn(Handle, Handle, *mut c_void, usize, *const RequestParam) -> StatusPtr;
    request_check_status: fn(Handle) -> Status;
    request_cancel: fn(Handle, Handle);
    request_free: fn(Handle);
}

impl UcxLibrary {
    /// Major, minor and release number.
    pub fn version(&self) -> (u32, u32, u32) {
        let (mut major, mut minor, mut release) = (0, 0, 0);
        // SAFETY: UCX writes to three places.
        unsafe { (self.get_version)(&mut major, &mut minor, &mut release) };
        (major, minor, release)
    }

    /// UCX's description of a status.
    pub fn describe(&self, status: Status) -> String {
        // SAFETY: UCX returns static text for every status.
        unsafe { CStr::from_ptr((self.status_string)(status)) }.to_string_lossy().into_owned()
    }

    /// An error, unless the status is good.
    pub fn check(&self, call: &'static str, status: Status) -> Result<(), UcxError> {
        if status == OK {
            Ok(())
        } else {
            Err(UcxError::Failed { call, node: None, why: self.describe(status) })
        }
    }
}

/// This machine's UCX, loaded once; or why there is none.
pub fn library() -> Result<&'static UcxLibrary, UcxError> {
    static LIBRARY: OnceLock<Result<UcxLibrary, UcxError>> = OnceLock::new();
    let library = LIBRARY.get_or_init(load).as_ref().map_err(Clone::clone)?;
    let (major, minor, release) = library.version();
    if (major, minor) < (1, 11) {
        return Err(UcxError::TooOld(format!("{major}.{minor}.{release}")));
    }
    Ok(library)
}
