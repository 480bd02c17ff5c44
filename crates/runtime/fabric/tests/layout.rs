//! UCX's structures have the same layout here as in its header, according to the C compiler, where the
//! header is installed.

use evenkeel_fabric::ucx::ffi::*;
use std::mem::{offset_of, size_of};
use std::process::Command;

/// C expressions, and their values here.
fn ours() -> Vec<(&'static str, usize)> {
    [ours_of_workers_and_endpoints(), ours_of_messages_and_requests()].concat()
}

fn ours_of_workers_and_endpoints() -> Vec<(&'static str, usize)> {
    vec![
        ("offsetof(ucp_params_t, name)", offset_of!(Params, name)),
        ("offsetof(ucp_params_t, estimated_num_eps)", offset_of!(Params, estimated_num_eps)),
        (
            "UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP",
            (FEATURE_RMA | FEATURE_AMO64 | FEATURE_AM | FEATURE_WAKEUP) as usize,
        ),
        (
            "UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS",
            (PARAM_FEATURES | PARAM_ESTIMATED_NUM_EPS) as usize,
        ),
        ("offsetof(ucp_worker_params_t, thread_mode)", offset_of!(WorkerParams, thread_mode)),
        ("offsetof(ucp_worker_params_t, events)", offset_of!(WorkerParams, events)),
        ("offsetof(ucp_worker_params_t, client_id)", offset_of!(WorkerParams, client_id)),
        ("UCP_WORKER_PARAM_FIELD_THREAD_MODE", WORKER_PARAM_THREAD_MODE as usize),
        ("UCS_THREAD_MODE_SERIALIZED", THREAD_MODE_SERIALIZED as usize),
        ("offsetof(ucp_ep_params_t, err_mode)", offset_of!(EpParams, err_mode)),
        ("offsetof(ucp_ep_params_t, err_handler)", offset_of!(EpParams, err_handler_cb)),
        ("offsetof(ucp_ep_params_t, flags)", offset_of!(EpParams, flags)),
        ("offsetof(ucp_ep_params_t, local_sockaddr)", offset_of!(EpParams, local_sockaddr)),
        ("sizeof(ucp_ep_params_t)", size_of::<EpParams>()),
        (
            "UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | \
             UCP_EP_PARAM_FIELD_ERR_HANDLER",
            (EP_PARAM_REMOTE_ADDRESS | EP_PARAM_ERR_HANDLING_MODE | EP_PARAM_ERR_HANDLER) as usize,
        ),
        ("UCP_ERR_HANDLING_MODE_PEER", ERR_HANDLING_MODE_PEER as usize),
        ("UCP_EP_CLOSE_FLAG_FORCE", EP_CLOSE_FLAG_FORCE as usize),
    ]
}

fn ours_of_messages_and_requests() -> Vec<(&'static str, usize)> {
    vec![
        ("offsetof(ucp_mem_map_params_t, length)", offset_of!(MemMapParams, length)),
        (
            "UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH",
            (MEM_MAP_PARAM_ADDRESS | MEM_MAP_PARAM_LENGTH) as usize,
        ),
        ("offsetof(ucp_am_handler_param_t, cb)", offset_of!(AmHandlerParam, cb)),
        ("sizeof(ucp_am_handler_param_t)", size_of::<AmHandlerParam>()),
        (
            "UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | \
             UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG",
            (AM_HANDLER_ID | AM_HANDLER_FLAGS | AM_HANDLER_CB | AM_HANDLER_ARG) as usize,
        ),
        ("UCP_AM_FLAG_WHOLE_MSG", AM_FLAG_WHOLE_MSG as usize),
        ("offsetof(ucp_am_recv_param_t, reply_ep)", offset_of!(AmRecvParam, reply_ep)),
        ("UCP_AM_RECV_ATTR_FLAG_RNDV", AM_RECV_ATTR_FLAG_RNDV as usize),
        ("offsetof(ucp_request_param_t, datatype)", offset_of!(RequestParam, datatype)),
        ("offsetof(ucp_request_param_t, reply_buffer)", offset_of!(RequestParam, reply_buffer)),
        ("offsetof(ucp_request_param_t, memh)", offset_of!(RequestParam, memh)),
        ("sizeof(ucp_request_param_t)", size_of::<RequestParam>()),
        (
            "UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_REPLY_BUFFER",
            (OP_ATTR_DATATYPE | OP_ATTR_FLAGS | OP_ATTR_REPLY_BUFFER) as usize,
        ),
        ("ucp_dt_make_contig(8)", DATATYPE_8_BYTES as usize),
        (
            "UCP_ATOMIC_OP_CSWAP * 1000 + UCP_ATOMIC_OP_ADD * 100 + UCP_ATOMIC_OP_XOR * 10 + \
             UCP_ATOMIC_OP_SWAP",
            (ATOMIC_CSWAP * 1000 + ATOMIC_ADD * 100 + ATOMIC_XOR * 10 + ATOMIC_SWAP) as usize,
        ),
        ("UCP_ATOMIC_OP_AND * 10 + UCP_ATOMIC_OP_OR", (ATOMIC_AND * 10 + ATOMIC_OR) as usize),
        ("sizeof(ucs_status_t)", size_of::<Status>()),
        (
            "-UCS_ERR_BUSY * 1000 - UCS_ERR_NO_ELEM",
            -(ERR_BUSY as i32 * 1000) as usize + -(ERR_NO_ELEM as i32) as usize,
        ),
    ]
}

#[test]
fn structures_have_the_layout_of_the_header() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("ucx_layout.c"), folder.join("ucx_layout"));
    let prints: String = ours()
        .iter()
        .map(|(expression, _)| format!("printf(\"%zu\\n\", (size_t)({expression}));\n"))
        .collect();
    let text = format!(
        "#include <ucp/api/ucp.h>\n#include <stddef.h>\n#include <stdio.h>\n\
         int main(void) {{\n{prints}return 0; }}\n"
    );
    std::fs::write(&source, text).unwrap();
    let header =
        Command::new("cc").args(["-E", "-include", "ucp/api/ucp.h", "-x", "c", "/dev/null"]).output();
    if !header.is_ok_and(|done| done.status.success()) {
        println!("skipped: no C compiler, or no ucp/api/ucp.h (Debian's package libucx-dev)");
        return;
    }
    let done = Command::new("cc").arg("-o").arg(&program).arg(&source).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let out = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
    let theirs: Vec<usize> = out.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(theirs.len(), ours().len());
    for ((expression, here), there) in ours().into_iter().zip(theirs) {
        assert_eq!(here, there, "{expression}");
    }
}
