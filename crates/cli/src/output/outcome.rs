//! What a command leaves to the program's entry point: the text to print and the exit code.

/// The result of a command that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Printed to standard output.
    pub text: Vec<u8>,
    /// Whether what was examined is in order; the exit code is 0 if it is, 1 if not. Commands that examine
    /// nothing always succeed.
    pub is_success: bool,
}

impl Outcome {
    /// The text about something that was examined, and whether it is in order.
    pub fn of_examination(text: String, is_success: bool) -> Outcome {
        Outcome { text: text.into(), is_success }
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Outcome {
        Outcome { text: text.into(), is_success: true }
    }
}

impl From<Vec<u8>> for Outcome {
    fn from(text: Vec<u8>) -> Outcome {
        Outcome { text, is_success: true }
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Outcome {
        Outcome::from(Vec::new())
    }
}
