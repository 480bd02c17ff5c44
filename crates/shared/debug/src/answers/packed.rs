//! Bytes as text: base64, as browsers decode it.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let all =
            three.iter().fold(0_u32, |all, &byte| all << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let is_there = digit <= three.len();
            text.push(if is_there { DIGITS[(all >> (18 - 6 * digit) & 63) as usize] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn texts_of_all_lengths_are_padded() {
        let vectors = [("", ""), ("a", "YQ=="), ("as", "YXM="), ("ask", "YXNr"), ("asks", "YXNrcw==")];
        for (bytes, expected) in vectors {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
