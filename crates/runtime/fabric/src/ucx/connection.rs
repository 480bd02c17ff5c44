//! The connection to one other node: UCX's endpoint, and the key to that node's memory.

use super::ffi::*;
use super::inbox::{ErrorContext, connection_lost};
use super::library::{UcxError, UcxLibrary};
use super::pending::Pending;
use super::worker::Worker;
use crate::node::NodeId;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A node's address, as [`Worker::address`] made it, taken apart.
pub(super) struct NodeAddress<'a> {
    worker: &'a [u8],
    memory_start: u64,
    memory_key: &'a [u8],
}

impl<'a> NodeAddress<'a> {
    /// None for bytes that are no address.
    pub fn parse(bytes: &'a [u8]) -> Option<NodeAddress<'a>> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (worker, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (start, memory_key) = rest.split_first_chunk::<8>()?;
        let memory_start = u64::from_le_bytes(*start);
        (!memory_key.is_empty()).then_some(NodeAddress { worker, memory_start, memory_key })
    }
}

/// A connection that was begun. UCX makes it when it is first used.
pub(super) struct Connection {
    pub endpoint: *mut c_void,
    pub key: *mut c_void,
    /// Address of the other node's memory, in that node.
    memory_start: u64,
    /// Why UCX has given the connection up, if it has.
    pub loss: Option<String>,
    /// From `Box::into_raw`; UCX's error handler reads it.
    context: *mut ErrorContext,
}

impl Connection {
    pub fn new(worker: &Worker, node: NodeId, address: &NodeAddress) -> Result<Connection, UcxError> {
        let library = worker.library;
        let check = |call, status| match status {
            OK => Ok(()),
            status => Err(UcxError::Failed { call, node: Some(node), why: library.describe(status) }),
        };
        let context = Box::into_raw(Box::new(ErrorContext { inbox: worker.inbox, node }));
        let mut made = Connection {
            endpoint: null_mut(),
            key: null_mut(),
            memory_start: address.memory_start,
            loss: None,
            context,
        };
        // SAFETY: the mask says which fields are set; address and key are those of another worker of the same
        // job, in full.
        unsafe {
            let params = EpParams {
                field_mask: EP_PARAM_REMOTE_ADDRESS | EP_PARAM_ERR_HANDLING_MODE | EP_PARAM_ERR_HANDLER,
                address: address.worker.as_ptr().cast(),
                err_mode: ERR_HANDLING_MODE_PEER,
                err_handler_cb: Some(connection_lost),
                err_handler_arg: context.cast(),
                ..std::mem::zeroed()
            };
            check("ucp_ep_create", (library.ep_create)(worker.worker, &params, &mut made.endpoint))?;
            let key = address.memory_key.as_ptr().cast();
            check("ucp_ep_rkey_unpack", (library.ep_rkey_unpack)(made.endpoint, key, &mut made.key))?;
        }
        Ok(made)
    }

    /// The address, at the other node, of an offset in its memory.
    pub fn remote_address(&self, at: usize) -> u64 {
        self.memory_start + at as u64
    }

    /// Begins to close the connection; `closing` gets UCX's request.
    pub fn begin_close(&self, library: &UcxLibrary, closing: &mut Pending) {
        let force =
            RequestParam { op_attr_mask: OP_ATTR_FLAGS, flags: EP_CLOSE_FLAG_FORCE, ..RequestParam::plain() };
        // SAFETY: key and endpoint are alive, and each is destroyed and closed once.
        unsafe {
            (library.rkey_destroy)(self.key);
            closing.add((library.ep_close_nbx)(self.endpoint, &force));
        }
    }

    /// Frees what UCX's error handler needs.
    ///
    /// # Safety
    /// The connection must be closed.
    pub unsafe fn free(self) {
        // SAFETY: from `Box::into_raw`; by the caller's promise UCX does not use it any more.
        drop(unsafe { Box::from_raw(self.context) });
    }
}
