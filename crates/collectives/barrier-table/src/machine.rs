//! What a table says about the machine on which it was made.

use serde::{Deserialize, Serialize};

/// The part of a machine that must agree with a table. The number of cores belongs to each entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineId {
    /// The name of the processor.
    pub processor: String,
}

impl MachineId {
    /// This machine.
    pub fn here() -> MachineId {
        MachineId { processor: processor(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()) }
    }
}

/// The name of the processor in /proc/cpuinfo. If it has none, the architecture.
pub fn processor(cpuinfo: &str) -> String {
    let name = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_has_its_name_or_its_architecture() {
        assert_eq!(
            processor("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nmodel name\t: other\n"),
            "Some CPU @ 3 GHz"
        );
        assert_eq!(processor("BogoMIPS: 50\n"), std::env::consts::ARCH);
    }
}
