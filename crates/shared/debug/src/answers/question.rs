//! A question of the page.

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// There is no such path.
    #[error("there is no such question")]
    NoSuchQuestion,
    /// A parameter is missing, or no number.
    #[error("{0} must be a number")]
    NoNumber(&'static str),
    /// A call or lane that is not there.
    #[error("there is no such call")]
    NoSuchCall,
}

/// A path and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Without what all have in common.
    pub path: String,
    parameters: Vec<(String, String)>,
}

impl Question {
    /// Of an address without host: `view?from=0&to=10`.
    pub fn of(address: &str) -> Question {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let parameter = |it: &str| {
            let (name, value) = it.split_once('=').unwrap_or((it, ""));
            (name.to_string(), decoded(value))
        };
        let parameters = query.split('&').filter(|it| !it.is_empty()).map(parameter).collect();
        Question { path: path.to_string(), parameters }
    }

    /// A parameter as a text; empty if it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.parameters.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str())
    }

    /// A parameter that must be a number.
    pub(super) fn number(&self, name: &'static str) -> Result<i64, Wrong> {
        // No time is outside: so differences cannot overflow.
        let most = 1 << 61;
        self.text(name)
            .parse()
            .map(|number: i64| number.clamp(-most, most))
            .map_err(|_| Wrong::NoNumber(name))
    }

    /// The number of a lane, a call, a site.
    pub(super) fn index(&self, name: &'static str) -> Result<u32, Wrong> {
        self.text(name).parse().map_err(|_| Wrong::NoNumber(name))
    }

    /// The interval that it is about.
    pub(super) fn interval(&self) -> Result<(i64, i64), Wrong> {
        let from = self.number("from")?;
        Ok((from, self.number("to")?.max(from)))
    }
}

/// `%20` and the like, decoded; what is no text becomes one.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(if first == b'+' { b' ' } else { first }));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_whatever_they_are() {
        let question = Question::of("next?name=MPI_%52ecv+x%&from=-5&to=99999999999999999999&lane=7");
        assert_eq!((question.path.as_str(), question.text("name")), ("next", "MPI_Recv x%"));
        assert_eq!((question.number("from"), question.index("lane")), (Ok(-5), Ok(7)));
        assert_eq!(question.number("to"), Err(Wrong::NoNumber("to")));
        assert_eq!(question.index("from"), Err(Wrong::NoNumber("from")));
        assert_eq!(Question::of("x?%&=&&a").text("nothing"), "");
    }
}
