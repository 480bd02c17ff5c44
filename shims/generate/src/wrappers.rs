//! The text of `wrappers.c`: the templates filled in for each function.

use crate::call_line;
use crate::checking;
use crate::error::GenerateError;
use crate::families::{self, FAMILIES, Family, HEAD, NEXT, TRY_MESSAGE};
use crate::recording;
use crate::standard::{Function, Standard};
use crate::template::{NoValueError, Values, fill_in};
use crate::timing;
use crate::tracing::{self, Traced};
use std::collections::BTreeSet;

/// Wrappers of everything that is interposed and that the library declares.
pub fn source(standard: &Standard, declared: &BTreeSet<String>) -> Result<String, GenerateError> {
    let mut text = String::from(HEAD);
    for family in FAMILIES {
        for name in family.functions {
            let name = format!("MPI_{name}");
            let forms = [Some(standard.function(&name)?), standard.large(&name)?];
            for function in forms.iter().flatten().filter(|f| declared.contains(&f.name)) {
                text += &wrapper(family, function)?;
            }
        }
    }
    text += "\nconst char *const ek_unpromised_names[] = {\n";
    for name in families::forwarded(declared).into_iter().filter(|name| !tracing::is_promised(name)) {
        text += &format!("    \"{name}\",\n");
    }
    text += "    NULL};\n\n/* ---- everything else that others could notice ---- */\n\n";
    for name in families::forwarded(declared) {
        text += &forwarder(standard, name);
    }
    Ok(text)
}

/// Functions that go on to the host by a jump are recorded where there is one.
const ON_X86: &str = "#ifdef __x86_64__@#endif\n";

/// The entry points of a function that goes on to the host by a jump. Only a function of the standard can be
/// timed: its arguments are passed on by C.
fn forwarder(standard: &Standard, name: &str) -> String {
    let base = families::without_suffix(name);
    let found = if base == name { standard.function(name).ok().map(Some) } else { standard.large(base).ok() };
    let Some(function) = found.flatten() else {
        return format!("EK_FORWARD({name}, {name}, NULL)\nEK_FORWARD(P{name}, {name}, NULL)\n");
    };
    let (parameters, arguments) = (function.prototype(), function.arguments());
    let mut text = ON_X86.replace("@", &checking::definitions(&function, &base["MPI_".len()..]));
    for entry in [name.to_string(), format!("P{name}")] {
        let timed = timing::timed(&function, &base["MPI_".len()..], "host");
        let timed: String = timed.lines().map(|line| format!("    {line}\n")).collect();
        text += &format!(
            "EK_TIMED_FORWARDER({entry}, ({parameters}))\n{{\n    \
             EK_FORWARDER_HOST({entry}, ({parameters}));\n\
             {timed}    return host({arguments});\n}}\nEK_FORWARD({entry}, {name}, timed_{entry})\n"
        );
    }
    text
}

/// The entry points `MPI_X` and `PMPI_X` of a function.
fn wrapper(family: &Family, function: &Function) -> Result<String, GenerateError> {
    let fill = |template, values: &Values| {
        let no_value = |NoValueError(placeholder)| GenerateError::NoValue {
            function: function.name.clone(),
            placeholder,
        };
        fill_in(template, values).map_err(no_value)
    };
    let mut values = values(function)?;
    let try_message = if family.carries_messages { fill(TRY_MESSAGE, &values)? } else { String::new() };
    values.insert("TRY_MESSAGE", try_message);
    let base = families::without_suffix(&function.name["MPI_".len()..]);
    let mut text = String::new();
    if !timing::is_left_alone(base) {
        text += &checking::definitions(function, base);
    }
    for prefix in ["", "P"] {
        values.insert("ENTRY", format!("{prefix}{}", function.name));
        text += &fill(NEXT, &values)?;
        text += "\n";
        text += &fill(family.template, &values)?;
    }
    Ok(text)
}

/// What the placeholders of a function's template stand for; those that it has no use for may be missing.
fn values(function: &Function) -> Result<Values, GenerateError> {
    let name = &function.name["MPI_".len()..];
    let base = families::without_suffix(name);
    let mut values = Values::from([
        ("NAME", name.to_string()),
        ("BASE", base.to_string()),
        ("name", name.to_lowercase()),
        ("base", base.to_lowercase()),
        ("RETURNS", if base == "Wtime" { "double" } else { "int" }.to_string()),
        ("PARAMETERS", function.prototype()),
        ("ARGUMENTS", function.arguments()),
        ("STARTED", started(base).to_string()),
    ]);
    if let Some(kind) = collective_kind(base) {
        let blocks = !function.parameters.iter().any(|p| p.kind == "REQUEST");
        values.insert("BLOCKS", blocks.to_string());
        let counted = if blocks { "ek_count_host_collective(entry);" } else { "" };
        values.insert("COUNT_COLLECTIVE", counted.to_string());
        values.insert("FIELDS", fields(function, kind)?);
    }
    values.insert("TRACE", traced(function, base, values.get("FIELDS").map_or("", String::as_str)));
    values.insert("TIMES", timing::timed(function, base, &format!("P{}", function.name)));
    if let Some(completion) = completion(base) {
        values.insert("REQUESTS", completion.requests.to_string());
        values.insert("HANDLES", completion.handles().to_string());
        values.insert("COMPLETED", completion.completed.to_string());
    }
    let lines = |lines: &[&str]| lines.join("\n");
    let first = format!("ek_trace_note_unpromised(\"MPI_{base}\");");
    values.insert("AT_FIRST", if tracing::is_promised(base) { String::new() } else { first });
    values.insert("CALLER", call_line::caller(function));
    let (before, after) = call_line::counting(base);
    values.insert("COUNT_BEFORE", lines(before));
    values.insert("COUNT_AFTER", lines(after));
    if let Some(recorded) = recording::of_message(base) {
        values.insert("RECORD", lines(recorded));
    }
    if let Some((before, after)) = recording::of_wait(base) {
        values.insert("RECORD_BEFORE", lines(before));
        values.insert("RECORD_AFTER", lines(after));
    }
    if let Some(found) = function.parameters.iter().find(|p| p.name == "flag" || p.name == "outcount") {
        values.insert("FOUND", found.name.clone());
    }
    if let Some(made) = function.parameters.iter().find(|p| p.kind == "COMMUNICATOR" && p.out) {
        values.insert("NEW_COMMUNICATOR", made.name.clone());
    }
    Ok(values)
}

/// What a wrapper begins with: while calls are traced, it enters itself again, by the name that no tool in
/// front of the shim has.
fn traced(function: &Function, base: &str, fields: &str) -> String {
    let Some(traced) = tracing::of(base) else { return String::new() };
    let scope = |asks: bool| format!("EK_TRACED_CALL(\"MPI_{base}\", {asks});");
    let arguments = function.arguments();
    let name = base.to_lowercase();
    let around = |before: &[&str], after: &[&str]| {
        let mut lines = vec![scope(false)];
        lines.extend(before.iter().map(|line| line.to_string()));
        lines.push(format!("int code = P{}({arguments});", function.name));
        lines.extend(after.iter().map(|line| line.to_string()));
        lines.push("return code;".into());
        lines
    };
    let all_arguments = format!("const ek_arguments arguments = {{\n{fields}\n}};");
    let lines = match traced {
        Traced::Around(before, after) => around(before, after),
        Traced::Collective => around(
            &[
                &all_arguments,
                "ek_traced_collective traced;",
                "ek_trace_collective_begins(&traced, &arguments);",
            ],
            &["ek_trace_collective_over(&traced, &arguments, code);"],
        ),
        Traced::PersistentCollective => {
            around(&[&all_arguments], &["ek_trace_collective_made(&arguments, code);"])
        }
        Traced::Asks => vec![scope(true), format!("return ek_traced_{name}({arguments});")],
        Traced::Instead => vec![scope(false), format!("return ek_traced_{name}({arguments});")],
    };
    let indented: Vec<_> = lines.iter().map(|line| format!("    {line}")).collect();
    format!("if (EK_TRACES_CALL) {{\n{}\n}}", indented.join("\n"))
}

/// How many requests a function starts, in C.
fn started(base: &str) -> &'static str {
    match base {
        "Startall" => "count",
        "Bsend" => "0",
        _ => "1",
    }
}

/// Of a function that completes requests, in C: which ones there are before the call, and how many of the
/// `active` ones are complete after it.
struct Completion {
    requests: &'static str,
    completed: &'static str,
}

impl Completion {
    /// The array alone.
    fn handles(&self) -> &'static str {
        self.requests.split(", ").nth(1).unwrap_or_default()
    }
}

fn completion(base: &str) -> Option<Completion> {
    let (requests, completed) = match base {
        "Wait" | "Test" => ("1, request", "active"),
        "Waitall" | "Testall" => ("count, array_of_requests", "active"),
        "Waitany" | "Testany" => ("count, array_of_requests", "active && *index >= 0"),
        "Waitsome" | "Testsome" => ("incount, array_of_requests", "active && *outcount > 0 ? *outcount : 0"),
        _ => return None,
    };
    Some(Completion { requests, completed })
}

/// The kind of a collective, without `EK_KIND_`: `REDUCE_SCATTER` of `Ireduce_scatter`.
fn collective_kind(base: &str) -> Option<String> {
    if !families::is_collective(base) {
        return None;
    }
    let blocking = base.strip_suffix("_init").unwrap_or(base);
    // "Ibcast" is a nonblocking "Bcast", and no blocking collective begins with an I.
    Some(blocking.strip_prefix('I').unwrap_or(blocking).to_uppercase())
}

/// The initializers of `ek_arguments`, one a line: each argument to its field.
fn fields(function: &Function, kind: String) -> Result<String, GenerateError> {
    let mut lines =
        vec![format!(".kind = EK_KIND_{kind},"), format!(".large_counts = {},", function.is_large())];
    for parameter in function.parameters.iter().filter(|parameter| parameter.name != "info") {
        let field = match (parameter.name.as_str(), kind.as_str()) {
            ("buffer", _) => "recvbuf",
            ("count", _) => "sendcount",
            ("datatype", _) => "sendtype",
            ("displs", "SCATTERV") => "sdispls",
            ("displs", _) => "rdispls",
            (
                "sendbuf" | "recvbuf" | "sendcount" | "recvcount" | "sendcounts" | "recvcounts" | "sdispls"
                | "rdispls" | "sendtype" | "recvtype" | "sendtypes" | "recvtypes" | "op" | "root" | "comm"
                | "request",
                _,
            ) => &parameter.name,
            (other, _) => {
                return Err(GenerateError::NoField {
                    function: function.name.clone(),
                    parameter: other.to_string(),
                });
            }
        };
        lines.push(format!(".{field} = {},", parameter.name));
    }
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard() -> Standard {
        Standard::parse(include_str!("../../standard/mpi-standard-5.0-apis.json")).unwrap()
    }

    fn source_of(declared: &[&str]) -> String {
        source(&standard(), &declared.iter().map(|name| name.to_string()).collect()).unwrap()
    }

    /// The body of a wrapper.
    fn body<'a>(text: &'a str, entry: &str) -> &'a str {
        let after = text.split(&format!("EK_ENTRY int {entry}(")).nth(1).unwrap_or_default();
        after.split("\n}").next().unwrap_or_default()
    }

    #[test]
    fn every_interposed_function_can_be_written() {
        let names = FAMILIES.iter().flat_map(|family| family.functions);
        let everything = names.flat_map(|n| [format!("MPI_{n}_c"), format!("MPI_{n}")]).collect();
        let text = source(&standard(), &everything).unwrap();
        for name in
            ["MPI_Ialltoallw_c", "PMPI_Reduce_scatter_block", "MPI_Sendrecv_replace_c", "PMPI_Cart_sub"]
        {
            assert!(text.contains(&format!("EK_ENTRY int {name}(")), "{name}");
        }
        assert!(!text.contains("MPI_Barrier_c") && !text.contains('@'));
    }

    #[test]
    fn no_function_is_in_two_families() {
        let all: Vec<_> = FAMILIES.iter().flat_map(|family| family.functions).collect();
        assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len());
    }

    #[test]
    fn what_others_could_notice_completes_barriers_and_questions_do_not() {
        let text = source_of(&[
            "MPI_Send",
            "MPI_Recv",
            "MPI_Put",
            "MPI_File_read",
            "MPI_File_open",
            "MPI_Comm_rank",
            "MPI_Comm_c2f",
            "MPI_Win_create",
            "MPI_T_init_thread",
            "MPI_Wtime",
        ]);
        for name in ["MPI_Put", "PMPI_File_read"] {
            assert!(text.contains(&format!("EK_FORWARD({name}, MPI_")), "{name}");
        }
        for name in ["Comm_rank", "Comm_c2f", "T_init_thread", "Send", "Recv", "Wtime"] {
            assert!(!text.contains(&format!("FORWARD(MPI_{name}")), "{name}");
        }
        assert!(body(&text, "MPI_Send").contains("EK_COMPLETE_DEFERRED(\"MPI_Send\")"));
        assert!(body(&text, "MPI_Recv").contains("EK_COMPLETE_DEFERRED(\"MPI_Recv\")"));
        assert!(body(&text, "MPI_Win_create").contains("ek_window_made();"));
        assert!(!body(&text, "MPI_File_open").contains("ek_window_made"));
        assert!(body(&text, "MPI_File_open").contains("EK_COMPLETE_DEFERRED(\"MPI_File_open\")"));
        assert!(body(&text, "MPI_File_open").contains("EK_HOST_SCOPE(true)"));
        assert!(text.contains("EK_ENTRY double MPI_Wtime(void)"));
    }

    #[test]
    fn what_the_library_lacks_is_left_out() {
        let text = source_of(&["MPI_Bcast"]);
        assert!(text.contains("EK_ENTRY int PMPI_Bcast("));
        assert!(!text.contains("MPI_Bcast_c") && !text.contains("MPI_Reduce"));
    }

    #[test]
    fn arguments_find_their_fields() {
        let text = source_of(&["MPI_Bcast", "MPI_Iscatterv", "MPI_Igatherv", "MPI_Ibarrier", "MPI_Scan"]);
        let has = |entry: &str, line: &str| body(&text, entry).contains(&format!("            {line},\n"));
        assert!(has("MPI_Bcast", ".recvbuf = buffer") && has("MPI_Bcast", ".sendcount = count"));
        assert!(has("MPI_Bcast", ".sendtype = datatype") && has("MPI_Bcast", ".root = root"));
        assert!(has("MPI_Iscatterv", ".kind = EK_KIND_SCATTERV"));
        assert!(has("MPI_Iscatterv", ".sdispls = displs") && has("MPI_Igatherv", ".rdispls = displs"));
        assert!(has("MPI_Ibarrier", ".kind = EK_KIND_BARRIER") && has("MPI_Ibarrier", ".request = request"));
        assert!(body(&text, "MPI_Ibarrier").contains("EK_HOST_SCOPE(false)"));
        assert!(body(&text, "MPI_Scan").contains("EK_HOST_SCOPE(true)"));
    }

    #[test]
    fn every_call_but_of_init_and_the_clock_is_timed() {
        let names = FAMILIES.iter().flat_map(|family| family.functions);
        let everything: BTreeSet<_> =
            names.flat_map(|n| [format!("MPI_{n}_c"), format!("MPI_{n}")]).collect();
        let text = source(&standard(), &everything).unwrap();
        for entry in text.split("EK_ENTRY ").skip(1) {
            let name = entry.split([' ', '(']).nth(1).unwrap().trim_start_matches('P');
            let body = entry.split("\n}").next().unwrap();
            let is_timed = body.contains("EK_TIMED_CALL(&function") || name.starts_with("MPI_Init");
            assert_eq!(is_timed, name != "MPI_Wtime", "{name}");
        }
        let text = source_of(&["MPI_Put", "MPI_Comm_free", "MPI_Op_create", "MPIX_Query_cuda_support"]);
        assert!(text.contains("EK_FORWARD(PMPI_Put, MPI_Put, timed_PMPI_Put)"));
        assert!(text.contains("EK_TIMED_CALL(&function, 0, ek_times_peer(target_rank), EK_TIMES_NO_TAG, "));
        assert!(text.contains("ek_timed_comm_freed(&timed, *comm);"));
        assert!(text.contains("EK_FORWARD(MPIX_Query_cuda_support, MPIX_Query_cuda_support, NULL)"));
    }

    #[test]
    fn arguments_of_timed_calls_are_those_that_matter() {
        let text = source_of(&["MPI_Sendrecv", "MPI_Gather", "MPI_Iscatter", "MPI_Recv", "MPI_Comm_split"]);
        let has = |entry: &str, line: &str| assert!(body(&text, entry).contains(line), "{entry}: {line}");
        has("MPI_Sendrecv", "comm, ek_times_peer(dest), ek_times_tag(sendtag), EK_TIMES_SEND_RECEIVE)");
        has("MPI_Sendrecv", "ek_timed_data(&timed, sendcount, sendtype);");
        has("MPI_Gather", "if (sendbuf != MPI_IN_PLACE && root >= 0)");
        has("MPI_Iscatter", "if (recvbuf != MPI_IN_PLACE && root >= 0)");
        has("MPI_Recv", "comm, ek_times_peer(source), ek_times_tag(tag), EK_TIMES_RECEIVE)");
        has("MPI_Comm_split", "ek_timed_comm_made(*newcomm);");
    }

    #[test]
    fn messages_are_tried_first_where_evenkeel_carries_them() {
        let text = source_of(&["MPI_Send", "MPI_Iprobe", "MPI_Win_test", "MPI_Bcast"]);
        assert!(body(&text, "MPI_Send").contains("ek_try_send(buf, count, datatype, dest, tag, comm)"));
        assert!(body(&text, "MPI_Iprobe").contains("ek_try_iprobe("));
        assert!(!body(&text, "MPI_Win_test").contains("ek_try_"));
        assert!(!body(&text, "MPI_Bcast").contains("carries_messages"));
    }
}
