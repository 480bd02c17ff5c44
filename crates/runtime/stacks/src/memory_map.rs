//! What a process has mapped, by /proc/PID/maps.

use std::ops::Range;
use std::path::PathBuf;

/// A line of the maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) range: Range<u64>,
    pub(crate) is_executable: bool,
    /// Of the file, at the beginning of the range.
    pub(crate) offset: u64,
    /// Device and inode: tells files apart.
    pub(crate) file: String,
    /// The file, `[stack]`, `[vdso]`, or nothing.
    pub(crate) name: String,
}

/// What the kernel appends to the name of a file that has been removed or replaced.
const DELETED: &str = " (deleted)";

/// All mappings of a process, by address.
pub(crate) fn of_process(pid: u32) -> Vec<Mapping> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default())
}

fn parse(maps: &str) -> Vec<Mapping> {
    maps.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (range, rights, offset) = (fields.next()?, fields.next()?, fields.next()?);
    let (device, rest) = (fields.next()?, fields.next()?);
    let (start, end) = range.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    Some(Mapping {
        range: number(start)?..number(end)?,
        is_executable: rights.contains('x'),
        offset: number(offset)?,
        file: format!("{device} {rest}"),
        name: fields.next().unwrap_or_default().trim().to_string(),
    })
}

/// The mapping that a stack pointer points into, from there on. The first thread's stack grows.
pub(crate) fn stack_at(mappings: &[Mapping], stack_pointer: u64) -> Option<Range<u64>> {
    let above = mappings.iter().find(|mapping| mapping.range.end > stack_pointer)?;
    let start = above.range.start.min(if above.name == "[stack]" { stack_pointer } else { u64::MAX });
    (start <= stack_pointer).then_some(start..above.range.end)
}

impl Mapping {
    /// Whether it is of a file that may hold code.
    pub(crate) fn is_of_file(&self) -> bool {
        self.name.starts_with('/')
    }

    /// File name, for people.
    pub(crate) fn short_name(&self) -> &str {
        let name = self.name.strip_suffix(DELETED).unwrap_or(&self.name);
        name.rsplit('/').next().unwrap_or(name)
    }

    /// Where the file can be opened, the best way first: a process in a container has a root of its own.
    pub(crate) fn ways_to_file(&self, pid: u32) -> Vec<PathBuf> {
        let Range { start, end } = self.range;
        let by_address = PathBuf::from(format!("/proc/{pid}/map_files/{start:x}-{end:x}"));
        match self.name.ends_with(DELETED) {
            true => vec![by_address],
            false => vec![PathBuf::from(format!("/proc/{pid}/root{}", self.name)), by_address],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0c0000000-55d0c0001000 r--p 00000000 fe:00 1234                       /usr/bin/a b
55d0c0001000-55d0c0002000 r-xp 00001000 fe:00 1234                       /usr/bin/a b
7f0000000000-7f0000001000 rw-p 00000000 00:00 0 
7f0000002000-7f0000003000 r-xp 00000000 fe:00 77                         /tmp/x.so (deleted)
7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0                          [stack]
";

    #[test]
    fn names_with_blanks_are_read() {
        let maps = parse(MAPS);
        assert_eq!(maps.len(), 5);
        assert_eq!((maps[1].name.as_str(), maps[1].short_name()), ("/usr/bin/a b", "a b"));
        assert!(maps[1].is_executable && maps[1].offset == 0x1000 && maps[0].file == maps[1].file);
        assert!(maps[3].is_of_file() && maps[3].short_name() == "x.so" && !maps[4].is_of_file());
        assert_eq!(maps[3].ways_to_file(5).len(), 1);
    }

    #[test]
    fn a_stack_that_has_grown_is_found() {
        let maps = parse(MAPS);
        assert_eq!(stack_at(&maps, 0x7ffe_0000_1000), Some(0x7ffe_0000_0000..0x7ffe_0002_1000));
        assert_eq!(stack_at(&maps, 0x7ffd_ffff_f000), Some(0x7ffd_ffff_f000..0x7ffe_0002_1000));
        assert_eq!(stack_at(&maps, 0x7f00_0000_0800), Some(0x7f00_0000_0000..0x7f00_0000_1000));
        assert_eq!(stack_at(&maps, 0x7f00_0000_1800), None);
        assert_eq!(stack_at(&maps, u64::MAX), None);
    }
}
