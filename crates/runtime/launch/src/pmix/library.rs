//! `libpmix`: its functions that are used here, and the layouts of what they take, as in release 4.2.

use crate::job::JobError;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

pub(super) const SUCCESS: c_int = 0;
pub(super) const NOT_SUPPORTED: c_int = -47;
/// Done, and no callback will follow.
pub(super) const SUCCEEDED: c_int = -157;
const NAMESPACE_BYTES: usize = 256;
const KEY_BYTES: usize = 512;
const STRING: u16 = 3;
const UINT16: u16 = 13;
const UINT32: u16 = 14;
const INFO: u16 = 24;
const ARRAY: u16 = 39;
const RANK: u16 = 40;
const BOOL: u16 = 1;

/// `pmix_proc_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Process {
    pub(super) namespace: [c_char; NAMESPACE_BYTES],
    pub(super) rank: u32,
}

/// `pmix_value_t`: a type, and a union of 24 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawValue {
    data_type: u16,
    data: [u64; 3],
}

/// `pmix_info_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawInfo {
    key: [c_char; KEY_BYTES],
    flags: u32,
    value: RawValue,
}

/// `pmix_data_array_t`
#[repr(C)]
struct RawArray {
    data_type: u16,
    length: usize,
    items: *mut c_void,
}

/// A value of one of the types that servers give.
pub(super) enum Value {
    Text(CString),
    Bool(bool),
    Short(u16),
    Number(u32),
    Rank(u32),
    List(InfoList),
}

/// Keys and values, with what their raw form points to.
#[derive(Default)]
pub(super) struct InfoList {
    raw: Vec<RawInfo>,
    /// What `raw` points to; the heap keeps it in place.
    texts: Vec<CString>,
    lists: Vec<(InfoList, Box<RawArray>)>,
}

impl InfoList {
    pub(super) fn with(mut self, key: &str, value: Value) -> InfoList {
        let (data_type, word) = match value {
            Value::Bool(truth) => (BOOL, u64::from(truth)),
            Value::Short(number) => (UINT16, u64::from(number)),
            Value::Number(number) => (UINT32, u64::from(number)),
            Value::Rank(number) => (RANK, u64::from(number)),
            Value::Text(text) => {
                let word = text.as_ptr() as u64;
                self.texts.push(text);
                (STRING, word)
            }
            Value::List(mut list) => {
                let items = list.raw.as_mut_ptr().cast();
                let mut array = Box::new(RawArray { data_type: INFO, length: list.raw.len(), items });
                let word = &raw mut *array as u64;
                self.lists.push((list, array));
                (ARRAY, word)
            }
        };
        // Numbers are the first bytes of the union.
        let data = [word.to_le(), 0, 0];
        let key = characters(key);
        self.raw.push(RawInfo { key, flags: 0, value: RawValue { data_type, data } });
        self
    }

    pub(super) fn raw(&mut self) -> (*mut RawInfo, usize) {
        (self.raw.as_mut_ptr(), self.raw.len())
    }
}

/// A text in a field of fixed length, with at least one 0 behind it.
pub(super) fn characters<const LENGTH: usize>(text: &str) -> [c_char; LENGTH] {
    let mut field = [0; LENGTH];
    for (to, from) in field[..LENGTH - 1].iter_mut().zip(text.bytes()) {
        *to = from as c_char;
    }
    field
}

pub(super) type Done = Option<unsafe extern "C" fn(c_int, *mut c_void)>;
pub(super) type FenceDone =
    Option<unsafe extern "C" fn(c_int, *const c_char, usize, *mut c_void, *const c_void, *mut c_void)>;

/// `pmix_server_module_t`. What is null is answered with "not supported".
#[repr(C)]
pub(super) struct Callbacks {
    pub(super) connected:
        Option<unsafe extern "C" fn(*const Process, *mut c_void, Done, *mut c_void) -> c_int>,
    pub(super) finalized:
        Option<unsafe extern "C" fn(*const Process, *mut c_void, Done, *mut c_void) -> c_int>,
    pub(super) abort: Option<
        unsafe extern "C" fn(
            *const Process,
            *mut c_void,
            c_int,
            *const c_char,
            *mut Process,
            usize,
            Done,
            *mut c_void,
        ) -> c_int,
    >,
    pub(super) fence: Option<
        unsafe extern "C" fn(
            *const Process,
            usize,
            *const RawInfo,
            usize,
            *mut c_char,
            usize,
            FenceDone,
            *mut c_void,
        ) -> c_int,
    >,
    /// Direct modex, publish, lookup, unpublish.
    pub(super) unused: [usize; 4],
    pub(super) spawn: Option<
        unsafe extern "C" fn(
            *const Process,
            *const RawInfo,
            usize,
            *const c_void,
            usize,
            *const c_void,
            *mut c_void,
        ) -> c_int,
    >,
    /// All that later releases have added, with room for more.
    pub(super) later: [usize; 55],
}

type Init = unsafe extern "C" fn(*const Callbacks, *mut RawInfo, usize) -> c_int;
type Generate = unsafe extern "C" fn(*const c_char, *mut *mut c_char) -> c_int;
type RegisterNamespace =
    unsafe extern "C" fn(*const c_char, c_int, *mut RawInfo, usize, Done, *mut c_void) -> c_int;
type RegisterClient = unsafe extern "C" fn(*const Process, u32, u32, *mut c_void, Done, *mut c_void) -> c_int;
type SetupFork = unsafe extern "C" fn(*const Process, *mut *mut *mut c_char) -> c_int;

/// The functions.
pub(super) struct Pmix {
    pub(super) init: Init,
    pub(super) generate_regex: Generate,
    pub(super) generate_ppn: Generate,
    pub(super) register_namespace: RegisterNamespace,
    pub(super) register_client: RegisterClient,
    pub(super) setup_fork: SetupFork,
}

impl Pmix {
    /// Loads the library. It stays loaded: its threads run until the process ends.
    pub(super) fn load(file: &Path) -> Result<Pmix, JobError> {
        let unusable =
            |why: libloading::Error| JobError::Pmix { library: file.to_path_buf(), why: why.to_string() };
        // RTLD_GLOBAL: its plugins use its symbols.
        // SAFETY: a libpmix runs no code of others when it is loaded.
        let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }.map_err(unusable)?;
        // SAFETY: the types are those of pmix_server.h.
        let functions = unsafe {
            Pmix {
                init: *library.get(b"PMIx_server_init\0").map_err(unusable)?,
                generate_regex: *library.get(b"PMIx_generate_regex\0").map_err(unusable)?,
                generate_ppn: *library.get(b"PMIx_generate_ppn\0").map_err(unusable)?,
                register_namespace: *library.get(b"PMIx_server_register_nspace\0").map_err(unusable)?,
                register_client: *library.get(b"PMIx_server_register_client\0").map_err(unusable)?,
                setup_fork: *library.get(b"PMIx_server_setup_fork\0").map_err(unusable)?,
            }
        };
        std::mem::forget(library);
        Ok(functions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn layouts_are_those_of_the_header() {
        assert_eq!((size_of::<RawInfo>(), offset_of!(RawInfo, flags)), (552, 512));
        assert_eq!((offset_of!(RawInfo, value), size_of::<RawValue>()), (520, 32));
        assert_eq!((offset_of!(RawValue, data), size_of::<RawArray>()), (8, 24));
        assert_eq!((size_of::<Process>(), offset_of!(Process, rank)), (260, 256));
        assert_eq!(offset_of!(Callbacks, spawn), 8 * 8);
        // 28 functions in release 4.2.
        assert!(size_of::<Callbacks>() >= 224);
    }

    #[test]
    fn texts_are_cut_to_their_field() {
        let field: [c_char; 4] = characters("abcdef");
        assert_eq!(field, [b'a' as c_char, b'b' as c_char, b'c' as c_char, 0]);
    }
}
