//! A call of the program as the shim describes it for checks (`--trace-level checks`).

use std::ffi::c_char;

/// A function of MPI, with the names and kinds of what its calls pass and get: see the format of the file.
#[repr(C)]
#[derive(Debug)]
pub struct CheckedFunction {
    /// Its name.
    pub name: *const c_char,
    /// What is passed.
    pub arguments: *const c_char,
    /// What comes back.
    pub results: *const c_char,
}

/// A call that begins.
#[repr(C)]
#[derive(Debug)]
pub struct CheckedCall {
    /// The function.
    pub function: *const CheckedFunction,
    /// The address that it returns to, in the program.
    pub site: usize,
    /// The place in a script, see ek_checks_script; 0: none.
    pub script: u32,
    /// The calling thread's number, from 0.
    pub thread: u32,
    /// What is passed.
    pub words: *const i64,
    /// How many words.
    pub count: usize,
}
