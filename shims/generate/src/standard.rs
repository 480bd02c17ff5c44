//! The machine-readable standard, as far as the shims need it: functions, their parameters, and how these
//! are written in C.

use crate::error::GenerateError;
use serde_json::Value;
use std::collections::BTreeMap;

/// One parameter as C sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As the standard has it.
    pub name: String,
    /// The standard's kind: BUFFER, COMMUNICATOR, POLYDISPLACEMENT, …
    pub kind: String,
    /// Type as in a prototype, e.g. `const int *`.
    pub c_type: String,
    /// Written by the function, not only read.
    pub out: bool,
    /// Read and written.
    pub in_and_out: bool,
    /// Of an array: the parameter that has its length, a number, or `*`.
    pub length: Option<String>,
    /// It matters at the root only.
    pub root_only: bool,
}

/// One function of the standard, in one of its forms.
#[derive(Clone, Debug)]
pub struct Function {
    /// `MPI_Allreduce` or `MPI_Allreduce_c`.
    pub name: String,
    /// Those that C has, in order.
    pub parameters: Vec<Parameter>,
}

impl Function {
    /// `const void *sendbuf, int count, …`; `void` if there are none.
    pub fn prototype(&self) -> String {
        if self.parameters.is_empty() {
            return "void".into();
        }
        let one = |p: &Parameter| {
            let gap = if p.c_type.ends_with('*') { "" } else { " " };
            format!("{}{gap}{}", p.c_type, p.name)
        };
        self.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// `sendbuf, count, …`
    pub fn arguments(&self) -> String {
        self.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether counts are MPI_Count.
    pub fn is_large(&self) -> bool {
        self.name.ends_with("_c")
    }
}

/// All functions by name.
pub struct Standard {
    functions: BTreeMap<String, Value>,
}

impl Standard {
    /// From `mpi-standard-*-apis.json`.
    pub fn parse(json: &str) -> Result<Self, GenerateError> {
        let all: BTreeMap<String, Value> = serde_json::from_str(json)?;
        let named = |v: Value| v["name"].as_str().map(str::to_string).map(|name| (name, v));
        Ok(Self { functions: all.into_values().filter_map(named).collect() })
    }

    /// `name` in the form with `int` counts.
    pub fn function(&self, name: &str) -> Result<Function, GenerateError> {
        self.build(name, false)
    }

    /// The large-count form, `name_c`, where the standard has one.
    pub fn large(&self, name: &str) -> Result<Option<Function>, GenerateError> {
        let poly = self.function(name)?.parameters.iter().any(|p| p.kind.starts_with("POLY"));
        if poly { self.build(name, true).map(Some) } else { Ok(None) }
    }

    fn build(&self, name: &str, large: bool) -> Result<Function, GenerateError> {
        let entry = self.functions.get(name).ok_or_else(|| GenerateError::NoFunction(name.into()))?;
        let mut parameters = Vec::new();
        for p in entry["parameters"].as_array().ok_or_else(|| GenerateError::NoParameters(name.into()))? {
            let text = |key: &str| p[key].as_str().unwrap_or_default();
            if text("suppress").contains("c_parameter") || (p["large_only"] == true && !large) {
                continue;
            }
            let out = text("param_direction") != "in";
            let in_and_out = text("param_direction") == "inout";
            let length = match &p["length"] {
                Value::Null => None,
                Value::String(name) => Some(name.clone()),
                Value::Array(names) => names.first().and_then(Value::as_str).map(str::to_string),
                other => Some(other.to_string()),
            };
            let by_address = !p["length"].is_null() || p["pointer"] == true;
            let unknown = || GenerateError::UnknownKind {
                function: name.into(),
                parameter: text("name").into(),
                kind: text("kind").into(),
            };
            let c_type = match text("kind") {
                // A function of the program's, with a type of its own.
                "FUNCTION" | "POLYFUNCTION" if !text("func_type").is_empty() => {
                    let is_large = large && text("kind") == "POLYFUNCTION";
                    Some(format!("{}{} *", text("func_type"), if is_large { "_c" } else { "" }))
                }
                kind => c_type(kind, out, by_address, p["constant"] == true, large),
            };
            let c_type = c_type.ok_or_else(unknown)?;
            parameters.push(Parameter {
                name: text("name").into(),
                kind: text("kind").into(),
                c_type,
                out,
                in_and_out,
                length,
                root_only: p["root_only"] == true,
            });
        }
        Ok(Function { name: format!("{name}{}", if large { "_c" } else { "" }), parameters })
    }
}

/// How a parameter of this kind is declared in C; None: the kind is not known.
fn c_type(kind: &str, out: bool, array: bool, constant: bool, large: bool) -> Option<String> {
    let base = match kind {
        "BUFFER" => return Some(if constant { "const void *" } else { "void *" }.into()),
        "STATUS" => return Some("MPI_Status *".into()),
        "STRING" => return Some("const char *".into()),
        "ARGUMENT_COUNT" => return Some("int *".into()),
        "ARGUMENT_LIST" | "STRING_2DARRAY" => return Some("char ***".into()),
        "C_BUFFER" | "C_BUFFER2" => return Some("void *".into()),
        "STRING_ARRAY" => return Some("char **".into()),
        "POLYRMA_DISPLACEMENT" if large => "MPI_Aint",
        "DISPLACEMENT" | "RMA_DISPLACEMENT_NNI" | "WINDOW_SIZE" => "MPI_Aint",
        "FILE" => "MPI_File",
        "OFFSET" => "MPI_Offset",
        "EXTRA_STATE" if !out => return Some("void *".into()),
        "POLYXFER_NUM_ELEM"
        | "POLYXFER_NUM_ELEM_NNI"
        | "POLYNUM_BYTES"
        | "POLYNUM_BYTES_NNI"
        | "POLYDTYPE_NUM_ELEM"
        | "POLYDTYPE_NUM_ELEM_NNI"
        | "POLYDTYPE_NUM_ELEM_PI"
        | "POLYDTYPE_STRIDE_BYTES"
        | "POLYDISPLACEMENT_AINT_COUNT"
        | "POLYDISPLACEMENT_COUNT"
        | "POLYNUM_PARAM_VALUES"
            if large =>
        {
            "MPI_Count"
        }
        "POLYDTYPE_STRIDE_BYTES" | "POLYDISPLACEMENT_AINT_COUNT" => "MPI_Aint",
        "XFER_NUM_ELEM_NNI" | "GENERIC_DTYPE_COUNT" => "MPI_Count",
        "POLYDISPLACEMENT" if large => "MPI_Aint",
        "COMMUNICATOR" => "MPI_Comm",
        "DATATYPE" => "MPI_Datatype",
        "ERRHANDLER" => "MPI_Errhandler",
        "GROUP" => "MPI_Group",
        "INFO" => "MPI_Info",
        "MESSAGE" => "MPI_Message",
        "OPERATION" => "MPI_Op",
        "REQUEST" => "MPI_Request",
        "SESSION" => "MPI_Session",
        "WINDOW" => "MPI_Win",
        "ACCESS_MODE"
        | "ERROR_CODE"
        | "FILE_DESCRIPTOR"
        | "POLYRMA_DISPLACEMENT"
        | "UPDATE_MODE"
        | "ARRAY_LENGTH"
        | "ARRAY_LENGTH_NNI"
        | "ARRAY_LENGTH_PI"
        | "ASSERT"
        | "COLOR"
        | "COMM_SIZE_PI"
        | "DISTRIB_ENUM"
        | "DTYPE_DISTRIBUTION"
        | "GENERIC_DTYPE_INT"
        | "MATH"
        | "ORDER"
        | "POLYDTYPE_NUM_ELEM"
        | "POLYDTYPE_NUM_ELEM_NNI"
        | "POLYDTYPE_NUM_ELEM_PI"
        | "POLYNUM_PARAM_VALUES"
        | "PROCESS_GRID_SIZE"
        | "TYPECLASS"
        | "COMM_SIZE"
        | "DEGREE"
        | "DIMENSION"
        | "INDEX"
        | "KEY"
        | "LOCK_TYPE"
        | "LOGICAL"
        | "NUM_DIMS"
        | "PARTITION"
        | "POLYDISPLACEMENT"
        | "POLYDISPLACEMENT_COUNT"
        | "POLYNUM_BYTES"
        | "POLYNUM_BYTES_NNI"
        | "POLYXFER_NUM_ELEM"
        | "POLYXFER_NUM_ELEM_NNI"
        | "RANK"
        | "RANK_NNI"
        | "SPLIT_TYPE"
        | "TAG"
        | "THREAD_LEVEL"
        | "WEIGHT" => "int",
        _ => return None,
    };
    let pointer = out || array;
    Some(format!(
        "{}{base}{}",
        if constant && pointer { "const " } else { "" },
        if pointer { " *" } else { "" }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard() -> Standard {
        Standard::parse(include_str!("../../standard/mpi-standard-5.0-apis.json")).unwrap()
    }

    #[test]
    fn prototypes_read_as_in_the_standard() {
        let s = standard();
        assert_eq!(
            s.function("MPI_Allreduce").unwrap().prototype(),
            "const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm"
        );
        assert_eq!(
            s.large("MPI_Gatherv").unwrap().unwrap().prototype(),
            "const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, \
             const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype, int root, \
             MPI_Comm comm"
        );
        assert_eq!(
            s.function("MPI_Waitany").unwrap().prototype(),
            "int count, MPI_Request *array_of_requests, int *index, MPI_Status *status"
        );
        assert_eq!(s.function("MPI_Finalize").unwrap().prototype(), "void");
        assert!(s.large("MPI_Barrier").unwrap().is_none());
    }
}
