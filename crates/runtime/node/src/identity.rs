//! Which build of this program this is: a number that the linker has made of its content.

use ring::digest;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const ELF_HEAD_BYTES: usize = 64;
/// The kind of segment that has notes, and so much of one is read at most.
const PT_NOTE: u32 = 4;
const LONGEST_NOTES: u64 = 1 << 16;

/// The kind of the note that has it, and its owner.
const NT_GNU_BUILD_ID: u32 = 3;
const OWNER: &[u8] = b"GNU\0";

/// The identity of the program that runs, as hexadecimal digits. Programs of one content have one, and others
/// have another.
///
/// # Errors
/// If the program's own file cannot be read.
pub(crate) fn own() -> io::Result<String> {
    match build_id() {
        Some(id) => Ok(to_hexadecimal(&id)),
        None => Ok(content_hash(&std::fs::read("/proc/self/exe")?)),
    }
}

/// The hash of a file's content.
pub(crate) fn content_hash(bytes: &[u8]) -> String {
    to_hexadecimal(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Two digits for each byte.
pub(crate) fn to_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// None for what is no such text.
pub(crate) fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let is_text = text.len() % 2 == 0 && text.is_ascii();
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    is_text.then(|| (0..text.len()).step_by(2).map(byte).collect())?
}

/// What the linker has noted in this program's file. None: nothing, or it is no ELF file of 64 bits.
fn build_id() -> Option<Vec<u8>> {
    let file = File::open("/proc/self/exe").ok()?;
    let read = |at: u64, length: usize| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    };
    let head = read(0, ELF_HEAD_BYTES)?;
    if head[..5] != *b"\x7fELF\x02" {
        return None;
    }
    let word = |bytes: &[u8], at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let short = |at: usize| usize::from(u16::from_ne_bytes([head[at], head[at + 1]]));
    let (begin, each, count) = (word(&head, 32)?, short(54), short(56));
    let headers = read(begin, each * count)?;
    headers.chunks_exact(each.max(1)).find_map(|header| {
        let is_note = header.get(..4)? == PT_NOTE.to_ne_bytes();
        let length = word(header, 32).filter(|length| is_note && *length <= LONGEST_NOTES)?;
        in_notes(&read(word(header, 8)?, length as usize)?)
    })
}

/// Notes: lengths of owner and content, a kind, and both, each filled up to a multiple of four.
fn in_notes(mut notes: &[u8]) -> Option<Vec<u8>> {
    loop {
        let (head, rest) = notes.split_first_chunk::<12>()?;
        let number = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (owner_bytes, content_bytes) = (number(0) as usize, number(4) as usize);
        let begin = owner_bytes.next_multiple_of(4);
        let content = rest.get(begin..begin.checked_add(content_bytes)?)?;
        if number(8) == NT_GNU_BUILD_ID && rest.get(..owner_bytes)? == OWNER {
            return Some(content.to_vec());
        }
        notes = rest.get(begin + content_bytes.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_among_notes() {
        let note = |kind: u32, owner: &[u8], content: &[u8]| {
            let lengths = [owner.len() as u32, content.len() as u32, kind];
            let mut bytes: Vec<u8> = lengths.iter().flat_map(|n| n.to_ne_bytes()).collect();
            for part in [owner, content] {
                bytes.extend_from_slice(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let all = [note(1, OWNER, &[0; 16]), note(3, b"Go\0", b"abc"), note(3, OWNER, b"id")].concat();
        assert_eq!(in_notes(&all), Some(b"id".to_vec()));
        for length in 0..all.len() - 4 {
            assert_eq!(in_notes(&all[..length]), None, "{length}");
        }
        assert_eq!(in_notes(&[0xff; 64]), None);
    }

    #[test]
    fn the_identity_is_the_same_each_time() {
        assert_eq!(own().unwrap(), own().unwrap());
        assert!(own().unwrap().len() >= 16);
        assert_eq!(from_hexadecimal(&to_hexadecimal(&[0, 171])), Some(vec![0, 171]));
        assert_eq!((from_hexadecimal("1"), from_hexadecimal("xy")), (None, None));
    }
}
