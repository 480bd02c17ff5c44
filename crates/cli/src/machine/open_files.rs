//! How many files a process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit that holds, and the one up to which this process may raise it. None: there is no limit.
pub fn limits() -> (Option<u64>, Option<u64>) {
    let limit = getrlimit(Resource::Nofile);
    (limit.current, limit.maximum)
}

/// Raises this process's limit to so many, or as far as it may, if it is lower.
pub fn allow(files: u64) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(files, |most| files.min(most));
    if limit.current.is_some_and(|current| current < wanted) {
        // A launcher that needs more files than that fails by itself.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    }
}
