//! What wrappers do while calls are recorded for checks, in C: see `shims/src/trace/checks.h`.
//!
//! Nothing here knows a function but by the kinds of its parameters, except for those that complete requests,
//! or send what stays in the program's buffer.

use crate::families;
use crate::standard::{Function, Parameter};

/// Kinds of parameters that have been added for checks. A function that has one is timed at that level only.
const KINDS_OF_CHECKS: &[&str] = &[
    "COMM_SIZE_PI",
    "DISTRIB_ENUM",
    "DTYPE_DISTRIBUTION",
    "EXTRA_STATE",
    "FUNCTION",
    "GENERIC_DTYPE_INT",
    "MATH",
    "ORDER",
    "POLYDISPLACEMENT_AINT_COUNT",
    "POLYDISPLACEMENT_COUNT",
    "POLYDTYPE_NUM_ELEM",
    "POLYDTYPE_NUM_ELEM_NNI",
    "POLYDTYPE_NUM_ELEM_PI",
    "POLYDTYPE_STRIDE_BYTES",
    "POLYFUNCTION",
    "POLYNUM_PARAM_VALUES",
    "PROCESS_GRID_SIZE",
    "TYPECLASS",
    "XFER_NUM_ELEM_NNI",
];

/// Whether a function is timed only while calls are recorded for checks.
pub fn is_for_checks_alone(function: &Function) -> bool {
    function.parameters.iter().any(|p| KINDS_OF_CHECKS.contains(&p.kind.as_str()))
}

/// The code of a handle.
fn handle(parameter: &Parameter) -> Option<char> {
    Some(match parameter.kind.as_str() {
        "COMMUNICATOR" => 'c',
        "DATATYPE" => 'd',
        "OPERATION" => 'o',
        "GROUP" => 'g',
        "WINDOW" => 'w',
        "FILE" => 'f',
        "REQUEST" => 'q',
        "MESSAGE" => 'm',
        "INFO" => 'i',
        "ERRHANDLER" => 'e',
        "SESSION" => 's',
        _ => return None,
    })
}

/// A parameter of a call: its name and kind, and the line that notes it.
struct Noted {
    kind: char,
    line: String,
}

/// How long an array is, in C; None: that is not known.
fn length(function: &Function, base: &str, parameter: &Parameter) -> Option<String> {
    let known = parameter.length.as_deref()?;
    if function.parameters.iter().any(|p| p.name == known && !p.c_type.ends_with('*')) {
        return Some(known.to_string());
    }
    if let Ok(number) = known.parse::<u32>() {
        return Some(number.to_string());
    }
    // So many as the communicator has ranks; of neighbours there are others.
    if !families::is_collective(base) || base.to_lowercase().contains("neighbor") {
        return None;
    }
    let has = |name: &str| function.parameters.iter().any(|p| p.name == name);
    let size = if parameter.root_only && has("root") {
        "ek_check_root_size(comm, root)".to_string()
    } else {
        "ek_check_comm_size(comm)".to_string()
    };
    // The counts of a buffer in place of which stands MPI_IN_PLACE are not looked at.
    let sends = parameter.name.starts_with("send");
    let scatters = base.to_lowercase().contains("scatterv");
    Some(match (sends, scatters) {
        (true, false) => format!("(sendbuf == MPI_IN_PLACE ? 0 : {size})"),
        _ => size,
    })
}

/// What is passed.
fn passed(function: &Function, base: &str, parameter: &Parameter) -> Option<Noted> {
    let name = &parameter.name;
    let c_type = parameter.c_type.trim();
    if parameter.kind == "BUFFER" {
        return Some(Noted { kind: 'b', line: format!("ek_check_buffer({name});") });
    }
    if let Some(code) = handle(parameter) {
        if !c_type.ends_with('*') {
            return Some(Noted { kind: code, line: format!("ek_check_word((int64_t)(uintptr_t){name});") });
        }
        if parameter.out && !parameter.in_and_out {
            return None;
        }
        if parameter.length.is_none() {
            let line = match code {
                'q' => format!("ek_check_request({name});"),
                _ => format!("ek_check_word({name} ? (int64_t)(uintptr_t)*{name} : 0);"),
            };
            return Some(Noted { kind: code, line });
        }
        let count = length(function, base, parameter)?;
        return match code {
            'q' => Some(Noted { kind: 'Q', line: format!("ek_check_requests({count}, {name});") }),
            'd' => Some(Noted { kind: 'D', line: format!("EK_CHECK_HANDLES({count}, {name});") }),
            _ => None,
        };
    }
    if parameter.out {
        return None;
    }
    match (parameter.kind.as_str(), c_type) {
        ("RANK" | "RANK_NNI", "int") => {
            Some(Noted { kind: 'r', line: format!("ek_check_word(ek_times_peer({name}));") })
        }
        ("TAG", "int") => Some(Noted { kind: 't', line: format!("ek_check_word(ek_times_tag({name}));") }),
        (_, "int" | "MPI_Count" | "MPI_Aint" | "MPI_Offset") => {
            Some(Noted { kind: 'n', line: format!("ek_check_word({name});") })
        }
        (kind, "const int *" | "const MPI_Count *") if kind.starts_with("POLYXFER_NUM_ELEM") => {
            let count = length(function, base, parameter)?;
            Some(Noted { kind: 'N', line: format!("EK_CHECK_NUMBERS({count}, {name});") })
        }
        _ => None,
    }
}

/// What comes back.
fn returned(function: &Function, base: &str, parameter: &Parameter) -> Option<Noted> {
    if !parameter.out {
        return None;
    }
    let name = &parameter.name;
    let has = |name: &str| function.parameters.iter().any(|p| p.name == name);
    if parameter.kind == "STATUS" {
        let count = match base {
            "Waitall" => "count".to_string(),
            "Testall" => "*flag ? count : 0".to_string(),
            "Waitsome" | "Testsome" => "*outcount > 0 ? *outcount : 0".to_string(),
            _ if parameter.length.is_some() => return None,
            _ if has("flag") => "*flag != 0".to_string(),
            _ => "1".to_string(),
        };
        return Some(Noted { kind: 'S', line: format!("ek_check_status({count}, {name});") });
    }
    if let Some(code) = handle(parameter) {
        return match &parameter.length {
            None => {
                let line = format!("ek_check_word((int64_t)(uintptr_t)*{name});");
                Some(Noted { kind: code, line })
            }
            Some(_) if code == 'd' && !parameter.in_and_out => {
                let count = length(function, base, parameter)?;
                Some(Noted { kind: 'D', line: format!("EK_CHECK_HANDLES({count}, {name});") })
            }
            Some(_) => None,
        };
    }
    let is_number = matches!(name.as_str(), "flag" | "index" | "outcount");
    if is_number && parameter.c_type.trim() == "int *" {
        return Some(Noted { kind: 'n', line: format!("ek_check_word(*{name});") });
    }
    if name == "array_of_indices" {
        let line = format!("EK_CHECK_NUMBERS(*outcount > 0 ? *outcount : 0, {name});");
        return Some(Noted { kind: 'N', line });
    }
    None
}

/// The name under which a function's description and helpers go.
fn suffix(function: &Function) -> &str {
    function.name.strip_prefix("MPI_").unwrap_or(&function.name)
}

/// The description of a function, and the C functions that note what its calls pass and get.
pub fn definitions(function: &Function, base: &str) -> String {
    let noted = |which: fn(&Function, &str, &Parameter) -> Option<Noted>| {
        let parameters = function.parameters.iter();
        let all = parameters.filter_map(|p| which(function, base, p).map(|noted| (p, noted)));
        let (mut names, mut lines) = (Vec::new(), Vec::new());
        for (parameter, noted) in all {
            names.push(format!("{}:{}", parameter.name, noted.kind));
            lines.push(noted.line);
        }
        (names.join(","), lines)
    };
    let (arguments, mut passes) = noted(passed);
    let (results, mut gets) = noted(returned);
    passes.insert(0, "ek_check_no_words();".into());
    gets.splice(0..0, effects(function, base));
    let name = suffix(function);
    let unused: Vec<_> = function.parameters.iter().map(|p| format!("(void){};", p.name)).collect();
    let body =
        |lines: &[String]| unused.iter().chain(lines).map(|line| format!("    {line}\n")).collect::<String>();
    let parameters = function.prototype();
    format!(
        "\nstatic const ek_checked_function checked_{name} = {{\"{}\", \"{arguments}\", \"{results}\"}};\n\
         static EK_CHECKED void check_passed_{name}({parameters})\n{{\n{}}}\n\
         static EK_CHECKED void check_got_{name}({parameters})\n{{\n{}}}\n",
        function.name,
        body(&passes),
        body(&gets)
    )
}

/// What a call that has succeeded means for requests, and for what the engine knows of handles.
fn effects(function: &Function, base: &str) -> Vec<String> {
    let lines: &[&str] = match base {
        "Wait" => &["ek_check_complete(0);"],
        "Test" | "Request_get_status" => &["if (*flag)", "    ek_check_complete(0);"],
        "Waitall" => &["ek_check_complete_all();"],
        "Testall" => &["if (*flag)", "    ek_check_complete_all();"],
        "Waitany" => &["ek_check_complete(*index);"],
        "Testany" => &["if (*flag)", "    ek_check_complete(*index);"],
        "Waitsome" | "Testsome" => {
            &["for (int i = 0; i < *outcount; i++)", "    ek_check_complete(array_of_indices[i]);"]
        }
        "Start" | "Startall" => &["ek_check_started();"],
        "Request_free" => &["ek_check_request_freed();"],
        "Isend" | "Issend" | "Irsend" | "Ibsend" => {
            &["ek_check_sends(*request, buf, count, datatype, dest, false);"]
        }
        "Isendrecv" => &["ek_check_sends(*request, sendbuf, sendcount, sendtype, dest, false);"],
        "Send_init" | "Ssend_init" | "Rsend_init" | "Bsend_init" => {
            &["ek_check_sends(*request, buf, count, datatype, dest, true);"]
        }
        "Type_commit" => &["ek_check_type_usable(*datatype);"],
        "Type_dup" | "Type_create_f90_real" | "Type_create_f90_complex" | "Type_create_f90_integer" => {
            &["ek_check_type_usable(*newtype);"]
        }
        _ => &[],
    };
    let mut lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
    let made = function.parameters.iter().find(|p| p.kind == "COMMUNICATOR" && p.out && !p.in_and_out);
    // Those that are made later may be used only when their request is complete.
    if let Some(made) = made.filter(|_| !matches!(base, "Comm_idup" | "Comm_idup_with_info")) {
        lines.push(format!("ek_check_comm_usable(*{});", made.name));
    }
    lines
}

/// Before the call: what it passes, and statuses that can be read.
pub fn before(function: &Function, base: &str) -> Vec<String> {
    let name = suffix(function);
    let arguments = function.arguments();
    let mut lines = vec![
        "if (EK_UNLIKELY(ek_checks.is_on)) {".to_string(),
        format!("    check_passed_{name}({arguments});"),
        format!("    ek_check_begin(&timed, &checked_{name});"),
    ];
    for status in function.parameters.iter().filter(|p| p.kind == "STATUS" && p.out) {
        let count = match base {
            "Waitall" | "Testall" => "count",
            "Waitsome" | "Testsome" => "incount",
            _ if status.length.is_some() => continue,
            _ => "1",
        };
        lines.push(format!("    ek_check_own_statuses({count}, &{});", status.name));
    }
    lines.push("}".into());
    lines
}

/// What a function frees.
fn freed<'a>(function: &'a Function, base: &str) -> Option<&'a Parameter> {
    let frees = base.ends_with("_free") && base != "Request_free"
        || matches!(base, "Comm_disconnect" | "File_close" | "Session_finalize");
    function.parameters.iter().find(|p| frees && p.in_and_out && handle(p).is_some())
}

/// Before the wrapper enters itself, of a function that frees.
pub fn before_reentry(function: &Function, base: &str) -> Option<String> {
    freed(function, base).map(|_| "ek_check_reenters();".to_string())
}

/// Within another call: callbacks of the program's free what they have kept.
pub fn within(function: &Function, base: &str) -> Option<String> {
    let freed = freed(function, base)?;
    Some(format!("EK_CHECK_FREED_WITHIN(&checked_{}, {});", suffix(function), freed.name))
}

/// After it. A receive that has failed may have taken a message that was too long.
pub fn after(function: &Function, base: &str) -> Vec<String> {
    let name = suffix(function);
    let arguments = function.arguments();
    let is_over = match base {
        "Recv" | "Sendrecv" | "Sendrecv_replace" => "(code == MPI_SUCCESS || ek_check_is_truncated(code))",
        _ => "code == MPI_SUCCESS",
    };
    vec![
        format!("if (EK_UNLIKELY(ek_checks.is_on) && {is_over})"),
        format!("    check_got_{name}({arguments});"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Standard;

    fn of(name: &str) -> String {
        let json = include_str!("../../standard/mpi-standard-5.0-apis.json");
        let function = Standard::parse(json).unwrap().function(name).unwrap();
        definitions(&function, families::without_suffix(&name["MPI_".len()..]))
    }

    #[test]
    fn descriptions_name_what_is_passed_and_what_comes_back() {
        let has = |name: &str, text: &str| assert!(of(name).contains(text), "{text} not in {}", of(name));
        has("MPI_Isend", "\"buf:b,count:n,datatype:d,dest:r,tag:t,comm:c\", \"request:q\"");
        has("MPI_Recv", "\"buf:b,count:n,datatype:d,source:r,tag:t,comm:c\", \"status:S\"");
        has("MPI_Waitall", "\"count:n,array_of_requests:Q\", \"array_of_statuses:S\"");
        has("MPI_Waitsome", "\"outcount:n,array_of_indices:N,array_of_statuses:S\"");
        has("MPI_Type_free", "\"datatype:d\", \"datatype:d\"");
        has("MPI_Comm_split", "\"comm:c,color:n,key:n\", \"newcomm:c\"");
        has("MPI_Op_create", "\"commute:n\", \"op:o\"");
    }

    #[test]
    fn arrays_are_read_only_where_they_matter() {
        let has = |name: &str, text: &str| assert!(of(name).contains(text), "{text} not in {}", of(name));
        has("MPI_Gatherv", "EK_CHECK_NUMBERS(ek_check_root_size(comm, root), recvcounts);");
        has("MPI_Scatterv", "EK_CHECK_NUMBERS(ek_check_root_size(comm, root), sendcounts);");
        has(
            "MPI_Alltoallv",
            "EK_CHECK_NUMBERS((sendbuf == MPI_IN_PLACE ? 0 : ek_check_comm_size(comm)), send",
        );
        assert!(!of("MPI_Neighbor_alltoallv").contains("EK_CHECK_NUMBERS"));
    }

    /// A handle that comes to be unseen could be taken for one that was freed before.
    #[test]
    fn every_function_that_makes_a_handle_is_recorded() {
        let json = include_str!("../../standard/mpi-standard-5.0-apis.json");
        let raw: std::collections::BTreeMap<String, serde_json::Value> = serde_json::from_str(json).unwrap();
        let standard = Standard::parse(json).unwrap();
        let kinds = ["COMMUNICATOR", "DATATYPE", "OPERATION", "GROUP", "WINDOW", "FILE", "REQUEST"];
        for function in raw.values() {
            let name = function["name"].as_str().unwrap();
            let makes = function["parameters"]
                .as_array()
                .unwrap()
                .iter()
                .any(|p| kinds.contains(&p["kind"].as_str().unwrap()) && p["param_direction"] != "in");
            let is_tool = name.starts_with("MPI_T_");
            let is_function =
                function["attributes"]["callback"] == false && name.starts_with("MPI_") && !is_tool;
            let converts = ["_f2c", "_fromint"].iter().any(|end| name.ends_with(end));
            // It finds a predefined type, and makes none.
            let finds = name == "MPI_Type_match_size";
            if makes && is_function && !converts && !finds && function["attributes"]["c_expressible"] == true
            {
                assert!(standard.function(name).is_ok(), "{name}");
            }
        }
    }

    #[test]
    fn requests_that_are_complete_are_told() {
        assert!(of("MPI_Testany").contains("if (*flag)\n        ek_check_complete(*index);"));
        assert!(of("MPI_Isend").contains("ek_check_sends(*request, buf, count, datatype, dest, false);"));
        assert!(of("MPI_Comm_split").contains("ek_check_comm_usable(*newcomm);"));
        assert!(!of("MPI_Comm_idup").contains("ek_check_comm_usable"));
        assert!(!of("MPI_Comm_free").contains("ek_check_comm_usable"));
    }
}
