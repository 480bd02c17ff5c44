//! A node's end before it knows the others.

use super::ffi::*;
use super::inbox::{Inbox, message_came};
use super::library::{Library_, UcxError, library};
use super::wire::UcxWire;
use crate::{Memory, NodeId};
use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

/// Ours, before the caller's. UCX's own probing of idle connections crashes in version 1.13
/// (`ucp_ep_do_uct_ep_am_keepalive`) when a connection was made ready and never used; who lives is
/// found out by those above, who know for how long a node may be slow.
const SETTINGS: [(&str, &str); 1] = [("KEEPALIVE_INTERVAL", "inf")];

/// UCX's objects of one node. Dropped in the order that UCX wants.
pub(super) struct Worker {
    pub library: &'static Library_,
    pub context: *mut c_void,
    pub worker: *mut c_void,
    pub region: *mut c_void,
    pub memory: Memory,
    /// From `Box::into_raw`: callbacks and the wire both look into it, by turns.
    pub inbox: *mut Inbox,
}

// SAFETY: the worker is made for use by one thread at a time (`THREAD_MODE_SERIALIZED`), and `&mut`
// sees to that.
unsafe impl Send for Worker {}

impl Drop for Worker {
    fn drop(&mut self) {
        // SAFETY: each was made in `open` (or is null), nothing uses it any more, and the inbox is the last
        // that a callback could need.
        unsafe {
            if !self.region.is_null() {
                (self.library.mem_unmap)(self.context, self.region);
            }
            if !self.worker.is_null() {
                (self.library.worker_destroy)(self.worker);
            }
            if !self.context.is_null() {
                (self.library.cleanup)(self.context);
            }
            drop(Box::from_raw(self.inbox));
        }
    }
}

/// An end that has an address and no peers yet.
pub struct Opened {
    worker: Worker,
    address: Vec<u8>,
}

/// Opens UCX with `memory_bytes` that the other nodes may write into. `settings` are UCX's, named
/// without their `UCX_`; they come before those of the environment. One that this version of UCX does
/// not know is passed over.
pub fn open(nodes: usize, memory_bytes: usize, settings: &[(&str, &str)]) -> Result<Opened, UcxError> {
    let library = library()?;
    let memory = Memory::new(memory_bytes).map_err(|error| UcxError::Memory(error.to_string()))?;
    let inbox = Box::into_raw(Box::new(Inbox { events: VecDeque::new(), announced: Vec::new(), library }));
    let mut worker =
        Worker { library, context: null_mut(), worker: null_mut(), region: null_mut(), memory, inbox };
    worker.context = context(library, nodes, settings)?;
    worker.start()?;
    let address = worker.address()?;
    Ok(Opened { worker, address })
}

fn context(library: &Library_, nodes: usize, settings: &[(&str, &str)]) -> Result<*mut c_void, UcxError> {
    // SAFETY: UCX fills the configuration and the context; strings are terminated; the parameters' mask
    // says which fields are set.
    unsafe {
        let mut config = null_mut();
        library.check(
            "ucp_config_read",
            (library.config_read)(std::ptr::null(), std::ptr::null(), &mut config),
        )?;
        for (name, value) in SETTINGS.iter().chain(settings) {
            let (name, value) =
                (CString::new(*name).expect("no zero byte"), CString::new(*value).expect("no zero byte"));
            let status = (library.config_modify)(config, name.as_ptr(), value.as_ptr());
            if status != ERR_NO_ELEM && status != OK {
                (library.config_release)(config);
                library.check("ucp_config_modify", status)?;
            }
        }
        let params = Params {
            field_mask: PARAM_FEATURES | PARAM_ESTIMATED_NUM_EPS,
            features: FEATURE_RMA | FEATURE_AMO64 | FEATURE_AM | FEATURE_WAKEUP,
            estimated_num_eps: nodes,
            ..std::mem::zeroed()
        };
        let mut context = null_mut();
        let status = (library.init_version)(1, 11, &params, config, &mut context);
        (library.config_release)(config);
        library.check("ucp_init", status).map(|()| context)
    }
}

impl Worker {
    fn start(&mut self) -> Result<(), UcxError> {
        let library = self.library;
        // SAFETY: structures whose masks say which fields are set; the inbox and the memory outlive the
        // worker.
        unsafe {
            let params = WorkerParams {
                field_mask: WORKER_PARAM_THREAD_MODE,
                thread_mode: THREAD_MODE_SERIALIZED,
                ..std::mem::zeroed()
            };
            library.check(
                "ucp_worker_create",
                (library.worker_create)(self.context, &params, &mut self.worker),
            )?;
            let handler = AmHandlerParam {
                field_mask: AM_HANDLER_ID | AM_HANDLER_FLAGS | AM_HANDLER_CB | AM_HANDLER_ARG,
                id: 0,
                flags: AM_FLAG_WHOLE_MSG,
                cb: Some(message_came),
                arg: self.inbox.cast(),
            };
            library.check(
                "ucp_worker_set_am_recv_handler",
                (library.worker_set_am_recv_handler)(self.worker, &handler),
            )?;
            let map = MemMapParams {
                field_mask: MEM_MAP_PARAM_ADDRESS | MEM_MAP_PARAM_LENGTH,
                address: self.memory.start().cast(),
                length: self.memory.len(),
                ..std::mem::zeroed()
            };
            library.check("ucp_mem_map", (library.mem_map)(self.context, &map, &mut self.region))
        }
    }

    /// Length of the worker's address (4 bytes), the address, where the memory starts (8 bytes), its key.
    fn address(&self) -> Result<Vec<u8>, UcxError> {
        let library = self.library;
        let (mut start, mut length) = (null_mut(), 0);
        // SAFETY: UCX gives a buffer and its length, which are copied and then given back.
        unsafe {
            library.check(
                "ucp_worker_get_address",
                (library.worker_get_address)(self.worker, &mut start, &mut length),
            )?;
            let mut blob = (length as u32).to_le_bytes().to_vec();
            blob.extend_from_slice(std::slice::from_raw_parts(start.cast::<u8>(), length));
            (library.worker_release_address)(self.worker, start);
            blob.extend_from_slice(&(self.memory.start() as u64).to_le_bytes());
            library.check(
                "ucp_rkey_pack",
                (library.rkey_pack)(self.context, self.region, &mut start, &mut length),
            )?;
            blob.extend_from_slice(std::slice::from_raw_parts(start.cast::<u8>(), length));
            (library.rkey_buffer_release)(start);
            Ok(blob)
        }
    }
}

impl Opened {
    /// What the other nodes need to reach this one. Some hundreds of bytes.
    pub fn address(&self) -> &[u8] {
        &self.address
    }

    /// Takes the addresses of all nodes, one's own among them. Connections are made when they are first used.
    pub fn connect(self, node: NodeId, addresses: &[Vec<u8>]) -> Result<UcxWire, UcxError> {
        UcxWire::new(self.worker, node, addresses)
    }
}
