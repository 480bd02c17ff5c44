//! What MPI's functions mean for waiting.

/// Whose entry a rank needs before it can leave a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// That of all members: the collective synchronizes.
    All,
    /// That of the root.
    Root,
    /// The root needs all, the others no one.
    AllAtRoot,
    /// That of the members before it, in the order of ranks.
    Before,
    /// No rank's, as far as the trace tells.
    NoRank,
}

/// What is known of a function by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Who is needed, if it is a collective.
    pub needs: Needs,
    /// It only starts something: `MPI_Isend`, `MPI_Ibarrier`, `MPI_Start`.
    pub only_starts: bool,
    /// `MPI_Wait` and its relatives.
    pub is_wait: bool,
    /// Of several requests, it waits for one: `MPI_Waitany`, `MPI_Waitsome`.
    pub waits_for_any: bool,
    /// It never waits: `MPI_Test` and its relatives, `MPI_Iprobe`.
    pub is_poll: bool,
    /// `MPI_Probe`: it waits for a message that a later call takes.
    pub is_probe: bool,
    /// It copies its message and returns: `MPI_Bsend`.
    pub is_buffered: bool,
}

impl Function {
    /// By its name, with or without `MPI_`.
    pub fn of(name: &str) -> Function {
        let base = name.strip_prefix("MPI_").unwrap_or(name);
        let base = base.strip_suffix("_c").unwrap_or(base);
        let nonblocking = nonblocking(base);
        let is_persistent = base.ends_with("_init");
        Function {
            needs: if is_persistent { Needs::NoRank } else { needs(nonblocking.unwrap_or(base)) },
            only_starts: nonblocking.is_some() || is_persistent || matches!(base, "Start" | "Startall"),
            is_wait: base.starts_with("Wait"),
            waits_for_any: matches!(base, "Waitany" | "Waitsome"),
            is_poll: base.starts_with("Test") || matches!(base, "Iprobe" | "Improbe"),
            is_probe: base == "Probe",
            is_buffered: base == "Bsend",
        }
    }
}

/// The blocking relative of a nonblocking function, if it is one: `Ibarrier` is `barrier` that only starts.
fn nonblocking(base: &str) -> Option<&str> {
    if matches!(base, "Comm_idup" | "Comm_idup_with_info") {
        return Some("Comm_dup");
    }
    // Init, Intercomm_create, Info_…, Is_thread_main are words that begin with an I.
    let words = ["Init", "Inter", "Info", "Is_", "Iprobe", "Improbe"];
    base.strip_prefix('I').filter(|_| !words.iter().any(|word| base.starts_with(word)))
}

fn needs(base: &str) -> Needs {
    let lower = base.to_ascii_lowercase();
    match lower.as_str() {
        "bcast" | "scatter" | "scatterv" => Needs::Root,
        "reduce" | "gather" | "gatherv" => Needs::AllAtRoot,
        "scan" | "exscan" => Needs::Before,
        _ if lower.starts_with("neighbor_") => Needs::NoRank,
        _ => Needs::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_who_is_needed_and_what_waits() {
        assert_eq!(Function::of("MPI_Barrier").needs, Needs::All);
        assert_eq!(Function::of("MPI_Ibcast").needs, Needs::Root);
        assert_eq!(Function::of("MPI_Gatherv_c").needs, Needs::AllAtRoot);
        assert_eq!(Function::of("MPI_Exscan").needs, Needs::Before);
        assert_eq!(Function::of("MPI_Ineighbor_alltoall").needs, Needs::NoRank);
        assert_eq!(Function::of("MPI_Allreduce_init").needs, Needs::NoRank);
        for name in ["MPI_Isend", "MPI_Issend", "MPI_Irecv", "MPI_Ibarrier", "MPI_Comm_idup", "MPI_Startall"]
        {
            assert!(Function::of(name).only_starts, "{name}");
        }
        for name in ["MPI_Init", "MPI_Intercomm_merge", "MPI_Recv", "MPI_Iprobe", "MPI_Is_thread_main"] {
            assert!(!Function::of(name).only_starts, "{name}");
        }
        assert!(Function::of("MPI_Waitall").is_wait && !Function::of("MPI_Waitall").waits_for_any);
        assert!(Function::of("MPI_Testsome").is_poll && Function::of("MPI_Iprobe").is_poll);
    }
}
