//! What records say about the system that they were made on.

/// Name and release of the running kernel: `Linux 6.1.0`.
pub fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

/// The name by which this host knows itself.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Processes that were ready to run during the last minute, on average; None where the kernel does not say.
pub fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Nanoseconds since 1970 for a time that a record keeps; 0 for times before.
pub fn unix_ns(time: std::time::SystemTime) -> u64 {
    time.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
