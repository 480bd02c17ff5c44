//! Finds the libraries that the dynamic linker would load, by its own rules (ld.so(8)).
//!
//! It searches, in this order: the RPATH of the file and of the files that need it, unless the file has a
//! RUNPATH; LD_LIBRARY_PATH; the RUNPATH; the linker's cache; the default directories.

use super::elf::Elf;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where libraries are searched on this machine.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The directories of LD_LIBRARY_PATH.
    pub library_path: Vec<PathBuf>,
    /// The linker's cache: name to files, in the cache's order.
    pub cache: HashMap<String, Vec<PathBuf>>,
    /// The directories that are searched last.
    pub defaults: Vec<PathBuf>,
}

/// A library as it would be loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The name by which it was asked for.
    pub name: String,
    /// The file that was found.
    pub elf: Elf,
    /// Index of the file that asked for it first; none for the program.
    parent: Option<usize>,
}

/// A library that would not be found.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// The name by which it was asked for.
    pub name: String,
    /// The file that asks for it.
    pub needed_by: PathBuf,
    /// The directories that were searched.
    pub searched: Vec<PathBuf>,
}

/// A program and its libraries, in the order in which the linker loads them.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The program, then what was found.
    pub loaded: Vec<Loaded>,
    /// What was not found.
    pub missing: Vec<Missing>,
}

impl Search {
    /// The places that hold for a program that is started from this environment.
    pub fn of_this_machine() -> Search {
        Search {
            library_path: std::env::var("LD_LIBRARY_PATH")
                .map(|v| split_library_path(&v))
                .unwrap_or_default(),
            cache: read_cache(),
            defaults: default_directories(),
        }
    }

    /// The program `root` and everything that would be loaded with it.
    pub fn resolve(&self, root: Elf) -> Resolved {
        let mut found = Resolved::default();
        let mut seen: HashSet<String> = HashSet::new();
        let machine = root.machine;
        found.loaded.push(Loaded { name: root.path.display().to_string(), elf: root, parent: None });
        let mut queue = VecDeque::from([0usize]);
        while let Some(index) = queue.pop_front() {
            for name in found.loaded[index].elf.needed.clone() {
                if !seen.insert(name.clone()) {
                    continue;
                }
                let mut searched = Vec::new();
                match self.find(&name, index, &found.loaded, machine, &mut searched) {
                    Some(elf) => {
                        // The file is known by its soname too: a request for that loads nothing more.
                        seen.extend(elf.soname.clone());
                        found.loaded.push(Loaded { name, elf, parent: Some(index) });
                        queue.push_back(found.loaded.len() - 1);
                    }
                    None => found.missing.push(Missing {
                        name,
                        needed_by: found.loaded[index].elf.path.clone(),
                        searched,
                    }),
                }
            }
        }
        found
    }

    /// Every file of this name that a program without search paths of its own could get, the first one first.
    pub fn all_named(&self, name: &str) -> Vec<PathBuf> {
        let direct = self.library_path.iter().chain(&self.defaults).map(|d| d.join(name));
        let cached = self.cache.get(name).cloned().unwrap_or_default();
        let mut files = Vec::new();
        for file in self.library_path.iter().map(|d| d.join(name)).chain(cached).chain(direct) {
            if file.is_file() && !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// Finds the library `name` that `loaded[index]` asks for; adds the directories that were searched in
    /// vain.
    fn find(
        &self,
        name: &str,
        index: usize,
        loaded: &[Loaded],
        machine: u16,
        searched: &mut Vec<PathBuf>,
    ) -> Option<Elf> {
        let usable = |file: &Path| Elf::read(file).ok().filter(|e| e.machine == machine);
        if name.contains('/') {
            searched.push(PathBuf::from(name));
            return usable(Path::new(name));
        }
        let mut directories = inherited_rpath(index, loaded);
        directories.extend(self.library_path.iter().cloned());
        let needing = &loaded[index].elf;
        directories.extend(needing.runpath.iter().map(|p| expand(p, &needing.path)));
        let cached = self.cache.get(name).cloned().unwrap_or_default();
        let files = directories
            .into_iter()
            .map(|d| d.join(name))
            .chain(cached)
            .chain(self.defaults.iter().map(|d| d.join(name)));
        for file in files {
            if let Some(elf) = usable(&file) {
                return Some(elf);
            }
            if let Some(directory) = file.parent().filter(|parent| !searched.iter().any(|s| s == parent)) {
                searched.push(directory.to_path_buf());
            }
        }
        None
    }
}

/// The RPATH that holds for a file: its own and that of the files that asked for it, unless it has a RUNPATH.
fn inherited_rpath(index: usize, loaded: &[Loaded]) -> Vec<PathBuf> {
    if !loaded[index].elf.runpath.is_empty() {
        return Vec::new();
    }
    let mut directories = Vec::new();
    let mut next = Some(index);
    while let Some(at) = next {
        let elf = &loaded[at].elf;
        if elf.runpath.is_empty() {
            directories.extend(elf.rpath.iter().map(|path| expand(path, &elf.path)));
        }
        next = loaded[at].parent;
    }
    directories
}

/// A search path with `$ORIGIN`, `$LIB` and `$PLATFORM` replaced as ld.so does.
pub fn expand(path: &str, file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let origin = absolute.parent().map(|p| p.display().to_string()).unwrap_or_default();
    let lib = if Path::new("/etc/debian_version").exists() { multiarch() } else { "lib64".to_string() };
    let mut text = path.to_string();
    for (name, value) in [("ORIGIN", origin.as_str()), ("LIB", &lib), ("PLATFORM", std::env::consts::ARCH)] {
        text = text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value);
    }
    PathBuf::from(text)
}

/// The directories of a value of LD_LIBRARY_PATH. An empty entry is the current directory.
pub fn split_library_path(value: &str) -> Vec<PathBuf> {
    if value.is_empty() {
        return Vec::new();
    }
    value.split([':', ';']).map(|p| PathBuf::from(if p.is_empty() { "." } else { p })).collect()
}

/// The lines of `ldconfig -p`: `\tlibmpi.so.40 (libc6,x86-64) => /lib/x86_64-linux-gnu/libmpi.so.40`.
pub fn parse_cache(text: &str) -> HashMap<String, Vec<PathBuf>> {
    let mut cache: HashMap<String, Vec<PathBuf>> = HashMap::new();
    for line in text.lines() {
        let Some((left, file)) = line.split_once(" => ") else { continue };
        let Some(name) = left.split_whitespace().next() else { continue };
        cache.entry(name.to_string()).or_default().push(PathBuf::from(file.trim()));
    }
    cache
}

fn read_cache() -> HashMap<String, Vec<PathBuf>> {
    for program in ["/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"] {
        if let Ok(out) = Command::new(program).arg("-p").env_remove("LD_PRELOAD").output() {
            if out.status.success() {
                return parse_cache(&String::from_utf8_lossy(&out.stdout));
            }
        }
    }
    HashMap::new()
}

fn multiarch() -> String {
    format!("lib/{}-linux-gnu", std::env::consts::ARCH)
}

fn default_directories() -> Vec<PathBuf> {
    let multiarch = multiarch();
    [
        format!("/{multiarch}"),
        format!("/usr/{multiarch}"),
        "/lib64".into(),
        "/usr/lib64".into(),
        "/lib".into(),
        "/usr/lib".into(),
    ]
    .into_iter()
    .map(PathBuf::from)
    .collect()
}
