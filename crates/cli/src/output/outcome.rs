//! What a command leaves to the program's entry point: the text to print and the exit code.

/// The result of a command that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Printed to standard output.
    pub text: Vec<u8>,
    /// The exit code: 0 if what was examined is in order, 1 if not; that of a program that was run. Commands
    /// that do neither always succeed.
    pub code: u8,
    /// The signal that has ended a program that was run: this process ends by it, too, in the end.
    pub signal: Option<i32>,
}

impl Outcome {
    /// The text about something that was examined, and whether it is in order.
    pub fn of_examination(text: String, is_success: bool) -> Outcome {
        Outcome { text: text.into(), code: u8::from(!is_success), signal: None }
    }

    /// A program was run, and has printed for itself.
    pub fn of_program(code: u8) -> Outcome {
        Outcome { text: Vec::new(), code, signal: None }
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Outcome {
        Outcome { text: text.into(), code: 0, signal: None }
    }
}

impl From<Vec<u8>> for Outcome {
    fn from(text: Vec<u8>) -> Outcome {
        Outcome { text, code: 0, signal: None }
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Outcome {
        Outcome::from(Vec::new())
    }
}
