//! What a table says about the machine it was made on.

use serde::{Deserialize, Serialize};

/// As much of a machine as must be the same for a table to go for it; the number of cores is each entry's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineId {
    /// The processor's name.
    pub processor: String,
}

impl MachineId {
    /// This machine.
    pub fn here() -> MachineId {
        MachineId { processor: processor(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()) }
    }
}

/// The processor's name as the kernel gives it; its architecture where it gives none.
pub fn processor(cpuinfo: &str) -> String {
    let name = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_as_far_as_it_is_known() {
        assert_eq!(
            processor("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nmodel name\t: other\n"),
            "Some CPU @ 3 GHz"
        );
        assert_eq!(processor("BogoMIPS: 50\n"), std::env::consts::ARCH);
    }
}
