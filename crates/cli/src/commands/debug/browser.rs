//! Opens a page in the user's browser.

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

/// A file that leads to the page; it is removed when this is dropped.
///
/// The address has the secret of the page in it, and all users of a machine see the arguments of processes.
/// So the browser is given a file that only this user can read.
pub(super) struct OpenedPage(#[allow(dead_code, reason = "it is kept, so that the file is")] NamedTempFile);

/// Opens the page, if there is a screen and a program that knows the browser.
pub(super) fn open(address: &str) -> Option<OpenedPage> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return None;
    }
    let folder = env::var_os("XDG_RUNTIME_DIR").map_or_else(env::temp_dir, Into::into);
    let mut file = tempfile::Builder::new().prefix("evenkeel-").suffix(".html").tempfile_in(folder).ok()?;
    // The address has nothing but a-z, 0-9 and :/.?=, so it needs no escapes.
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\"><title>evenkeel</title>\n"
    );
    file.write_all(page.as_bytes()).ok()?;
    let quiet = || Stdio::null();
    let opener =
        Command::new("xdg-open").arg(file.path()).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    let mut opener = opener.ok()?;
    // Whether it succeeds does not matter: the address is printed, too.
    std::thread::spawn(move || opener.wait());
    Some(OpenedPage(file))
}
