//! SARIF 2.1.0 (OASIS): the findings as code hosts and editors read them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use skillgraph_core::{Code, Finding, Report};

use crate::report::level_name;

/// The log of one run.
pub(crate) fn log(report: &Report) -> Result<String, String> {
    let codes: BTreeMap<&str, Code> =
        report.findings.iter().map(|finding| (finding.code.as_str(), finding.code)).collect();
    let rules: Vec<Value> = codes
        .values()
        .map(|code| json!({ "id": code.as_str(), "defaultConfiguration": { "level": level_name(code.level()) } }))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "skillgraph",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": report.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    serde_json::to_string_pretty(&log).map_err(|error| error.to_string())
}

fn result(finding: &Finding<String>) -> Value {
    let help = finding.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    let mut result = json!({
        "ruleId": finding.code.as_str(),
        "level": level_name(finding.level),
        "message": { "text": format!("{}{help}", finding.message) },
    });
    let place = physical(&finding.at);
    result["locations"] = json!([{ "physicalLocation": place }]);
    result
}

/// `path:line:column`, or a path alone.
fn physical(at: &str) -> Value {
    let mut parts = at.rsplitn(3, ':');
    let (column, line, path) = (parts.next(), parts.next(), parts.next());
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u64>().ok());
    match (path, number(line), number(column)) {
        (Some(path), Some(line), Some(column)) => json!({
            "artifactLocation": { "uri": uri(path) },
            "region": { "startLine": line, "startColumn": column },
        }),
        _ => json!({ "artifactLocation": { "uri": uri(at) } }),
    }
}

/// A path as the reference that it is in a URI: what has a meaning there, or no place, by its number.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
