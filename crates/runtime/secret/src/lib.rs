//! The secret of a job, and the keys that are derived from it.
//!
//! May use: ring, the kernel's random bytes. Must never: show anything of a secret or of a key, or leave a
//! secret in memory that is not used any more.

use ring::hmac;
use std::fmt;
use zeroize::Zeroize;

/// Length of a secret in bytes.
pub const SECRET_BYTES: usize = 32;

/// 256 random bits that all agents of one job know, and no other process. They are overwritten when the value
/// is dropped.
#[derive(Clone)]
pub struct JobSecret([u8; SECRET_BYTES]);

impl JobSecret {
    /// The secret that one rank has made for the job.
    pub fn new(bytes: [u8; SECRET_BYTES]) -> JobSecret {
        JobSecret(bytes)
    }

    /// A key for one purpose. Without the secret it is as good as random, also for a process that knows the
    /// keys for other purposes.
    pub fn derive(&self, purpose: &str, number: u32) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let tag = hmac::sign(&key, &[purpose.as_bytes(), &[0], &number.to_le_bytes()].concat());
        tag.as_ref().try_into().expect("a tag of HMAC-SHA256 has 32 bytes")
    }

    /// A number that messages of this job carry. It tells jobs apart on a fabric that encrypts nothing, and
    /// reveals nothing of the secret.
    pub fn message_token(&self) -> u64 {
        let key = self.derive("evenkeel message token", 0);
        u64::from_le_bytes(key[..8].try_into().expect("eight bytes"))
    }
}

impl Drop for JobSecret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Shows nothing of the secret, so that no message for debugging can contain it.
impl fmt::Debug for JobSecret {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("JobSecret(…)")
    }
}

/// Random bytes from the kernel.
///
/// # Errors
/// If the kernel has none.
pub fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        // SAFETY: writes at most the rest of the array.
        let got = unsafe { libc::getrandom(bytes[filled..].as_mut_ptr().cast(), N - filled, 0) };
        match usize::try_from(got) {
            Ok(got) => filled += got,
            Err(_) => {
                let error = std::io::Error::last_os_error();
                if error.kind() != std::io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_keys_differ_by_secret_purpose_and_number() {
        let (one, other) = (JobSecret::new([1; 32]), JobSecret::new([2; 32]));
        let keys = [
            one.derive("a", 0),
            one.derive("a", 1),
            one.derive("b", 0),
            other.derive("a", 0),
            random().unwrap(),
            random().unwrap(),
        ];
        for (number, key) in keys.iter().enumerate() {
            assert!(!keys[..number].contains(key), "key {number}");
        }
        assert_eq!(one.derive("a", 1), JobSecret::new([1; 32]).derive("a", 1));
        assert_ne!(one.message_token(), other.message_token());
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert!(!format!("{:?}", JobSecret::new([0xab; 32])).contains("ab"));
    }
}
