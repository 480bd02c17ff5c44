//! Point-to-point messages that the host library carries, as the shim notes them for the report.

use evenkeel_engine::clock::Ticks;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::process::Process;
use evenkeel_engine::record::host_messages::HostRequest;
use evenkeel_options as options;

fn node() -> Option<&'static Node> {
    Process::get().and_then(Process::node)
}

/// Returns whether the shim is to note point-to-point calls: only if a report is to be written.
#[unsafe(no_mangle)]
pub extern "C" fn ek_message_calls_are_recorded() -> bool {
    node().is_some_and(|node| node.recording) && !options::REPORT.get().is_empty()
}

/// Returns the time, for `ek_message_call_end`; never 0.
#[unsafe(no_mangle)]
pub extern "C" fn ek_message_call_begin() -> u64 {
    node().map_or(1, |node| node.clock().now().0.max(1))
}

/// Notes a point-to-point call that began at this time. `is_wait`: the host carried it out, and may have
/// waited for rank `peer` of the world, which is negative if it is not known.
#[unsafe(no_mangle)]
pub extern "C" fn ek_message_call_end(began: u64, is_wait: bool, peer: i32) {
    let Some(node) = node() else { return };
    let now = node.clock().now();
    let ns = node.clock().ns_between(Ticks(began), now);
    node.host_messages.count_call(ns);
    if is_wait && node.host_messages.count_wait(peer, ns) {
        node.waited.add(Ticks(began), now);
        node.timeline.add(node.clock().ns_between(node.began, now), ns);
    }
}

/// Notes a message that is left to the host, to rank `peer` of the world, which is negative if it is not
/// known.
#[unsafe(no_mangle)]
pub extern "C" fn ek_host_message_sent(peer: i32, bytes: u64) {
    if let Some(node) = node() {
        node.host_messages.count_sent(peer, bytes);
    }
}

/// Notes a request of the host's for a send or receive, by its handle.
#[unsafe(no_mangle)]
pub extern "C" fn ek_host_request_add(handle: usize, request: HostRequest) {
    if let Some(node) = node() {
        node.host_messages.requests().insert(handle, request);
    }
}

/// Finds what has been noted about a request. Returns false if nothing has been.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_host_request_find(handle: usize, request: *mut HostRequest) -> bool {
    let found = node().and_then(|node| node.host_messages.requests().get(&handle).copied());
    // SAFETY: a place for it, by the interface.
    found.map(|found| unsafe { request.write(found) }).is_some()
}

/// Forgets a request that the program has no more, and returns what was noted about it, as
/// `ek_host_request_find` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_host_request_remove(handle: usize, request: *mut HostRequest) -> bool {
    let found = node().and_then(|node| node.host_messages.requests().remove(&handle));
    // SAFETY: a place for it, by the interface.
    found.map(|found| unsafe { request.write(found) }).is_some()
}
