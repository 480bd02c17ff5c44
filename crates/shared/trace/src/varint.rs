//! Numbers of variable length: seven bits a byte, the lowest first; the top bit says that more follow.

/// Appends a number.
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a number that may be negative; small ones are short whatever their sign.
pub fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    push(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

/// Takes a number from the front; `None` if the bytes end within it, or if it has more than 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return (shift < 63 || byte < 2).then_some(number);
        }
    }
    None
}

/// As [`take`], of [`push_signed`].
pub fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    take(bytes).map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            push_signed(&mut bytes, number as i64);
            let mut rest = &bytes[..];
            assert_eq!(take(&mut rest), Some(number));
            assert_eq!(take_signed(&mut rest), Some(number as i64));
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn what_is_cut_or_too_long_is_no_number() {
        assert_eq!(take(&mut &[0x80u8, 0x80][..]), None);
        assert_eq!(take(&mut &[0xffu8; 11][..]), None);
        assert_eq!(take(&mut &[][..]), None);
    }
}
