//! One line of PMI-1: `cmd=put kvsname=kvs_0 key=K value=V`.

/// A command and its arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line<'a> {
    /// What follows `cmd=`.
    pub(super) command: &'a str,
    arguments: &'a str,
}

impl<'a> Line<'a> {
    /// Reads a line without its end. None if it does not begin with a command.
    pub(super) fn parse(text: &'a str) -> Option<Line<'a>> {
        let rest = text.trim_start_matches(' ').strip_prefix("cmd=")?;
        let (command, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
        (!command.is_empty()).then_some(Line { command, arguments })
    }

    /// The value of an argument, which ends at the next blank.
    pub(super) fn argument(&self, name: &str) -> Option<&'a str> {
        let mut words = self.arguments.split(' ');
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// The value of the last argument, which may contain blanks.
    pub(super) fn last_argument(&self, name: &str) -> Option<&'a str> {
        let pattern = format!("{name}=");
        let starts = self.arguments.match_indices(&pattern).map(|(at, _)| at);
        let mut at_word = starts.filter(|at| *at == 0 || self.arguments.as_bytes()[at - 1] == b' ');
        at_word.next().map(|at| &self.arguments[at + pattern.len()..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_at_a_blank_and_the_last_at_the_end() {
        let line = Line::parse("cmd=put kvsname=kvs_0 key=a value=b c key=d").unwrap();
        assert_eq!(line.command, "put");
        assert_eq!(line.argument("key"), Some("a"));
        assert_eq!(line.argument("ey"), None);
        assert_eq!(line.last_argument("value"), Some("b c key=d"));
        assert_eq!(line.last_argument("val"), None);
    }

    #[test]
    fn what_is_no_command_is_none() {
        for text in ["", "cmd=", "put", "mcmd=spawn", "\u{0}cmd=init"] {
            assert_eq!(Line::parse(text), None, "{text:?}");
        }
    }
}
