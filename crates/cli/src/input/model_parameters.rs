//! Sets of model parameters: built in, or in a file.

use crate::errors::ModelError;
use evenkeel_model::{Parameters, builtin};
use std::path::Path;

/// The built-in set of that name, or the set in that file. A name with a slash or a dot, or of a file that is
/// there, is a file's.
pub fn load(name: &str) -> Result<Parameters, ModelError> {
    if let Some(set) = builtin::find(name) {
        return Ok(set);
    }
    let path = Path::new(name);
    if !name.contains(['/', '.']) && !path.exists() {
        return Err(ModelError::NotFound { name: name.into(), known: builtin::names() });
    }
    let unreadable = |why: String| ModelError::NotReadable { path: path.to_path_buf(), why };
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
    let set: Parameters = serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))?;
    set.check().map_err(|e| unreadable(e.to_string()))?;
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_found_by_name_and_by_file_and_refused_with_a_reason() {
        assert_eq!(load("mozart-infiniband").unwrap().name, "mozart-infiniband");
        let error = load("mozart").unwrap_err().to_string();
        assert!(error.contains("clic-fast-ethernet") && error.contains("mozart-infiniband"), "{error}");
        let directory = tempfile::tempdir().unwrap();
        let file = |text: &str| {
            let path = directory.path().join("set.json");
            std::fs::write(&path, text).unwrap();
            load(path.to_str().unwrap())
        };
        let good = serde_json::to_string(&builtin::find("clic-fast-ethernet").unwrap()).unwrap();
        assert_eq!(file(&good).unwrap(), builtin::find("clic-fast-ethernet").unwrap());
        for (text, why) in [
            (good.replace("\"schema\":1", "\"schema\":7"), "layout is number 7"),
            (good.replace("\"gap_ns\":6720.0", "\"gap_ns\":-1.0"), "gap_ns is -1"),
            ("{".into(), "EOF"),
        ] {
            let error = file(&text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(load("./not-there.json").unwrap_err().to_string().contains("not-there.json"));
    }
}
