//! A skill as the text of its file. It reads back as it was, places apart.

use std::fmt::Write;

use super::{Data, FileRoute, SkillFile};
use crate::decl::{GuardTerm, Literal, Number, OnSkip, OnUnfinished, StatusSet, Surface, Trigger, TriggerTools};

impl SkillFile {
    /// Writes the file.
    ///
    /// ```
    /// # use skillgraph_core::skill_file::read;
    /// let file = read("---\nname: refunds\ndescription: 'Money: back'\ntools: [pay]\n---\nLook first.\n").file.unwrap();
    /// let written = file.to_skill_md();
    /// assert_eq!(written, "---\nname: refunds\ndescription: \"Money: back\"\ntools: [pay]\n---\n\nLook first.\n");
    /// assert_eq!(read(&written).file.unwrap().to_skill_md(), written);
    /// ```
    pub fn to_skill_md(&self) -> String {
        let mut front = format!("name: {}\ndescription: {}\n", name(&self.name.text), quoted(&self.description.text));
        let names = |list: &[crate::decl::Word<super::Part>]| {
            list.iter().map(|word| name(&word.text)).collect::<Vec<_>>().join(", ")
        };
        if !self.tools.is_empty() {
            line(&mut front, format_args!("tools: [{}]", names(&self.tools)));
        }
        if let Some(steps) = &self.steps {
            line(&mut front, format_args!("steps:"));
            for step in &steps.list {
                line(&mut front, format_args!("  - {}: {}", name(&step.tool.text), quoted(&step.note.text)));
            }
        }
        match &self.on_skip {
            Some((OnSkip::Advance, _)) => line(&mut front, format_args!("on-skip: advance")),
            Some((OnSkip::Hold, _)) => line(&mut front, format_args!("on-skip: hold")),
            None => {}
        }
        match &self.on_unfinished {
            Some((OnUnfinished::Nudge, _)) => line(&mut front, format_args!("on-unfinished: nudge")),
            Some((OnUnfinished::Accept, _)) => line(&mut front, format_args!("on-unfinished: accept")),
            None => {}
        }
        match &self.surface {
            Some((Surface::SystemPrompt, _)) => line(&mut front, format_args!("surface: system_prompt")),
            Some((Surface::ToolResult, _)) => line(&mut front, format_args!("surface: tool_result")),
            Some((Surface::Both, _)) => line(&mut front, format_args!("surface: both")),
            None => {}
        }
        if !self.routes.is_empty() {
            line(&mut front, format_args!("routes:"));
            self.routes.iter().for_each(|route| line(&mut front, format_args!("  - {}", edge(route))));
        }
        if let Some(license) = &self.license {
            line(&mut front, format_args!("license: {}", quoted(license)));
        }
        if let Some(compatibility) = &self.compatibility {
            line(&mut front, format_args!("compatibility: {}", quoted(compatibility)));
        }
        if !self.allowed_tools.is_empty() {
            let allowed: Vec<String> = self.allowed_tools.iter().map(|tool| quoted(tool)).collect();
            line(&mut front, format_args!("allowed-tools: [{}]", allowed.join(", ")));
        }
        if !self.metadata.is_empty() {
            line(&mut front, format_args!("metadata: {}", flow_map(&self.metadata)));
        }
        for (key, value) in &self.other_keys {
            line(&mut front, format_args!("{}: {}", name(key), flow(value)));
        }
        format!("---\n{front}---\n\n{}\n", self.body.text)
    }
}

fn line(front: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(front, "{text}");
}

/// A name as it is, or between quotes where YAML would take it for something else.
fn name(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let is_value = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|value| text.eq_ignore_ascii_case(value));
    if begins && is_word && !is_value { text.to_owned() } else { quoted(text) }
}

/// A text between quotes, whatever is in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}') => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn flow(data: &Data) -> String {
    match data {
        Data::Null => "null".to_owned(),
        Data::Text(text) => quoted(text),
        Data::List(list) => format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Data::Map(pairs) => flow_map(pairs),
    }
}

fn flow_map(pairs: &[(String, Data)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{}: {}", quoted(key), flow(value))).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// `target`, or `target: "what fires it"`.
fn edge(route: &FileRoute) -> String {
    let mut fires = match &route.trigger {
        Trigger::Pick | Trigger::Closure(_) => return name(&route.to.text),
        Trigger::Returns { tools, statuses, guard, .. } => {
            let tools = match tools {
                TriggerTools::One(tool) => tool.text.clone(),
                TriggerTools::AnyOf { list, .. } => {
                    format!("any[{}]", list.iter().map(|tool| tool.text.as_str()).collect::<Vec<_>>().join(", "))
                }
                TriggerTools::Any { .. } => "any".to_owned(),
            };
            format!("on {tools}{}{}", statuses.map_or(String::new(), is), where_(guard))
        }
    };
    if let Some(label) = &route.label {
        fires.push_str(&format!(" as {}", guard_text(&label.text)));
    }
    format!("{}: {}", name(&route.to.text), quoted(&fires))
}

fn is(statuses: StatusSet) -> String {
    let words: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
    format!(" is {}", words.join(" | "))
}

fn where_(guard: &[GuardTerm<super::Part>]) -> String {
    let terms: Vec<String> = guard
        .iter()
        .map(|term| {
            let values: Vec<String> = term.values.iter().map(literal).collect();
            let values = if term.listed { format!("[{}]", values.join(", ")) } else { values.join(", ") };
            format!("{} {} {values}", term.path.text, term.operator.as_str())
        })
        .collect();
    if terms.is_empty() { String::new() } else { format!(" where {}", terms.join(" && ")) }
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::Number(Number::Whole(value)) => value.to_string(),
        Literal::Number(Number::Large(value)) => value.to_string(),
        Literal::Number(Number::Float(value)) => format!("{value:?}"),
        Literal::Text(text) => guard_text(text),
    }
}

fn guard_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
