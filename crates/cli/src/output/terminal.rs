//! The terminal that a command prints to.

use std::io::IsTerminal;

/// Columns for output that goes to a file or a pipe.
const WIDTH_WITHOUT_TERMINAL: usize = 100;

/// The width of standard output in columns: the terminal's, else COLUMNS, else 100.
pub fn width() -> usize {
    let of_terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let of_terminal = of_terminal.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(of_environment).unwrap_or(WIDTH_WITHOUT_TERMINAL)
}

/// The width of the terminal that shows standard error, if one does.
pub fn width_of_errors() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Whether standard output may be coloured: it is a terminal, and NO_COLOR (<https://no-color.org>) is not
/// set.
pub fn colours_are_welcome() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !refused
}
