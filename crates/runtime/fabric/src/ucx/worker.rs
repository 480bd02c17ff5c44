//! UCX's objects of one node: a context, a worker, and the memory that is registered with them.

use super::ffi::*;
use super::inbox::{Inbox, message_arrived};
use super::library::{UcxError, UcxLibrary};
use crate::memory::Memory;
use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

/// Settings that come before the caller's. UCX's own probing of idle connections crashes in version 1.13
/// (`ucp_ep_do_uct_ep_am_keepalive`) when a connection was made ready and never used. Those above find out
/// which nodes live; they know how long a node may be slow.
const SETTINGS: [(&str, &str); 1] = [("KEEPALIVE_INTERVAL", "inf")];

/// UCX's objects of one node. They are dropped in the order that UCX demands.
pub(super) struct Worker {
    pub library: &'static UcxLibrary,
    context: *mut c_void,
    pub worker: *mut c_void,
    region: *mut c_void,
    pub memory: Memory,
    /// From `Box::into_raw`: callbacks and the wire access it in turns.
    pub inbox: *mut Inbox,
}

// SAFETY: the worker is made for use by one thread at a time (`THREAD_MODE_SERIALIZED`), which `&mut`
// ensures.
unsafe impl Send for Worker {}

impl Drop for Worker {
    fn drop(&mut self) {
        // SAFETY: each object was made in `Worker::new` (or is null) and nothing uses it any more; the inbox
        // goes last, since callbacks use it.
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

impl Worker {
    /// A worker for a job of so many nodes, with memory that the other nodes may write into. `settings` are
    /// UCX's, named without `UCX_`.
    pub fn new(
        library: &'static UcxLibrary,
        nodes: usize,
        memory: Memory,
        settings: &[(&str, &str)],
    ) -> Result<Worker, UcxError> {
        let inbox = Inbox { events: VecDeque::new(), rendezvous: Vec::new(), library };
        let mut worker = Worker {
            library,
            context: null_mut(),
            worker: null_mut(),
            region: null_mut(),
            memory,
            inbox: Box::into_raw(Box::new(inbox)),
        };
        worker.context = create_context(library, nodes, settings)?;
        worker.create_worker()?;
        worker.handle_messages()?;
        worker.register_memory()?;
        Ok(worker)
    }

    fn create_worker(&mut self) -> Result<(), UcxError> {
        // SAFETY: the parameters' mask says which fields are set; the context is alive.
        unsafe {
            let params = WorkerParams {
                field_mask: WORKER_PARAM_THREAD_MODE,
                thread_mode: THREAD_MODE_SERIALIZED,
                ..std::mem::zeroed()
            };
            let status = (self.library.worker_create)(self.context, &params, &mut self.worker);
            self.library.check("ucp_worker_create", status)
        }
    }

    fn handle_messages(&mut self) -> Result<(), UcxError> {
        let handler = AmHandlerParam {
            field_mask: AM_HANDLER_ID | AM_HANDLER_FLAGS | AM_HANDLER_CB | AM_HANDLER_ARG,
            id: 0,
            flags: AM_FLAG_WHOLE_MSG,
            cb: Some(message_arrived),
            arg: self.inbox.cast(),
        };
        // SAFETY: the worker is alive, and the inbox outlives it.
        let status = unsafe { (self.library.worker_set_am_recv_handler)(self.worker, &handler) };
        self.library.check("ucp_worker_set_am_recv_handler", status)
    }

    fn register_memory(&mut self) -> Result<(), UcxError> {
        // SAFETY: the mask says which fields are set; the memory outlives its registration.
        unsafe {
            let map = MemMapParams {
                field_mask: MEM_MAP_PARAM_ADDRESS | MEM_MAP_PARAM_LENGTH,
                address: self.memory.start().cast(),
                length: self.memory.len(),
                ..std::mem::zeroed()
            };
            let status = (self.library.mem_map)(self.context, &map, &mut self.region);
            self.library.check("ucp_mem_map", status)
        }
    }

    /// What other nodes need to connect to this one, in the form that `connection::NodeAddress` takes apart:
    /// length of the worker's address (4 bytes), the address, where the memory starts (8 bytes), its key.
    pub fn address(&self) -> Result<Vec<u8>, UcxError> {
        let library = self.library;
        let (mut start, mut length) = (null_mut(), 0);
        // SAFETY: UCX gives a buffer and its length; the buffer is copied and then given back.
        unsafe {
            let status = (library.worker_get_address)(self.worker, &mut start, &mut length);
            library.check("ucp_worker_get_address", status)?;
            let mut address = (length as u32).to_le_bytes().to_vec();
            address.extend_from_slice(std::slice::from_raw_parts(start.cast::<u8>(), length));
            (library.worker_release_address)(self.worker, start);
            address.extend_from_slice(&(self.memory.start() as u64).to_le_bytes());
            let status = (library.rkey_pack)(self.context, self.region, &mut start, &mut length);
            library.check("ucp_rkey_pack", status)?;
            address.extend_from_slice(std::slice::from_raw_parts(start.cast::<u8>(), length));
            (library.rkey_buffer_release)(start);
            Ok(address)
        }
    }
}

fn create_context(
    library: &UcxLibrary,
    nodes: usize,
    settings: &[(&str, &str)],
) -> Result<*mut c_void, UcxError> {
    // SAFETY: UCX fills the configuration and the context; strings are terminated; the parameters' mask says
    // which fields are set.
    unsafe {
        let mut config = null_mut();
        let status = (library.config_read)(std::ptr::null(), std::ptr::null(), &mut config);
        library.check("ucp_config_read", status)?;
        for (name, value) in SETTINGS.iter().chain(settings) {
            let name = CString::new(*name).expect("no zero byte");
            let value = CString::new(*value).expect("no zero byte");
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
