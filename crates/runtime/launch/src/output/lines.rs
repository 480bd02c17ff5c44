//! Cuts what a rank writes into whole lines, so that no line of one rank stands within one of another.

/// A longer line is passed on in parts, bytes.
const LONGEST_LINE: usize = 64 * 1024;

/// One stream of one rank.
#[derive(Debug)]
pub struct Lines {
    /// What stands in front of each line.
    label: String,
    /// A line whose end has not come.
    rest: Vec<u8>,
    /// Whether the beginning of the line that `rest` belongs to has been passed on.
    is_continued: bool,
}

impl Lines {
    /// Lines with `label` in front of each.
    pub fn new(label: String) -> Lines {
        Lines { label, rest: Vec::new(), is_continued: false }
    }

    /// Takes what was read, and appends to `out` what may be passed on.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut bytes = bytes;
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(&bytes[..=end]);
            bytes = &bytes[end + 1..];
            self.pass_on(out);
            self.is_continued = false;
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > LONGEST_LINE {
            self.pass_on(out);
        }
    }

    /// Whether there is the beginning of a line that has not been passed on.
    pub fn has_rest(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Passes the beginning of a line on: a prompt.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if self.has_rest() {
            self.pass_on(out);
        }
    }

    /// The stream has ended. A line without an end gets one if it has a label, so that the next label stands
    /// at the beginning of a line.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.has_rest() && !self.label.is_empty() {
            self.rest.push(b'\n');
        }
        self.flush(out);
    }

    fn pass_on(&mut self, out: &mut Vec<u8>) {
        if !self.is_continued {
            out.extend_from_slice(self.label.as_bytes());
        }
        out.append(&mut self.rest);
        self.is_continued = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    #[test]
    fn lines_leave_whole_and_labelled() {
        let mut lines = Lines::new("[1] ".into());
        let mut out = Vec::new();
        lines.take(b"a\nb", &mut out);
        assert_eq!(out, b"[1] a\n");
        lines.take(b"c\n\n", &mut out);
        assert_eq!(out, b"[1] a\n[1] bc\n[1] \n");
        lines.take(b"end", &mut out);
        lines.finish(&mut out);
        assert_eq!(out, b"[1] a\n[1] bc\n[1] \n[1] end\n");
    }

    #[test]
    fn a_prompt_is_part_of_its_line() {
        let mut lines = Lines::new("[0] ".into());
        let mut out = Vec::new();
        lines.take(b"name? ", &mut out);
        lines.flush(&mut out);
        lines.take(b"yes\nx\n", &mut out);
        assert_eq!(out, b"[0] name? yes\n[0] x\n");
    }

    #[test]
    fn no_byte_is_lost_however_it_is_cut() {
        let text: Vec<u8> = (0..200_000u32).map(|n| if n % 977 == 0 { b'\n' } else { b'a' }).collect();
        let long: Vec<u8> = [text.as_slice(), &[b'x'; 3 * LONGEST_LINE], b"\nend"].concat();
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (mut lines, mut out, mut at) = (Lines::new(String::new()), Vec::new(), 0);
            while at < long.len() {
                let end = (at + 1 + random.below(9000)).min(long.len());
                lines.take(&long[at..end], &mut out);
                assert!(lines.rest.len() <= LONGEST_LINE);
                at = end;
            }
            lines.finish(&mut out);
            assert!(out == long);
        }
    }
}
