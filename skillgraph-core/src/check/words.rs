//! How something is written, in the form of whoever reads a finding: the language, JSON, or the front matter of a file.

use crate::decl::Form;

impl Form {
    /// The name of a field as it is written: `on_skip`.
    fn name(self, field: &str) -> String {
        match self {
            Form::Language => field.to_owned(),
            Form::Data => format!("\"{field}\""),
            Form::File => field.replace('_', "-"),
        }
    }

    /// The name of a field.
    pub(super) fn key(self, field: &str) -> String {
        format!("`{}`", self.name(field))
    }

    /// A field with a text.
    pub(super) fn text_field(self, field: &str, text: &str) -> String {
        match self {
            Form::Language | Form::Data => format!("`{}: \"{text}\"`", self.name(field)),
            Form::File => format!("`{}: {text}`", self.name(field)),
        }
    }

    /// A field with one of the words of the language.
    pub(super) fn word_field(self, name: &str, word: &str) -> String {
        match self {
            Form::Language => format!("`{name}: {word}`"),
            _ => self.text_field(name, word),
        }
    }

    /// A field with a list of names.
    pub(super) fn list_field(self, field: &str, names: &[&str]) -> String {
        let quote = if self == Form::Data { "\"" } else { "" };
        let names: Vec<String> = names.iter().map(|name| format!("{quote}{name}{quote}")).collect();
        format!("`{}: [{}]`", self.name(field), names.join(", "))
    }

    /// A procedure.
    pub(super) fn steps(self) -> &'static str {
        match self {
            Form::Language => "`steps: [tool: \"why\", …]`",
            Form::Data => "`\"steps\": [{ \"tool\": \"…\", \"note\": \"why\" }, …]`",
            Form::File => "`steps:` with lines `- tool: why`",
        }
    }

    /// What gives a skill the id, in place of the one that it has.
    pub(super) fn id(self, skill: &str, id: &str) -> String {
        match self {
            Form::Language => format!("`skill {skill} = \"{id}\"`"),
            Form::Data => format!("`\"id\": \"{id}\"`"),
            Form::File => format!("`name: {id}`"),
        }
    }

    /// An edge that a tool's result fires, to be added.
    pub(super) fn edge(self, from: &str, to: &str) -> String {
        match self {
            Form::Language => format!("`route {from} -> {to} on …;`"),
            Form::Data => format!("`{{ \"from\": \"{from}\", \"to\": \"{to}\", \"on\": [\"…\"] }}` to `routes`"),
            Form::File => format!("`- {to}: on …` to the `routes` of {}", quoted(from)),
        }
    }

    /// An edge that the model's pick takes, to be added.
    pub(super) fn pick_edge(self, from: &str, to: &str) -> String {
        match self {
            Form::Language => format!("`route {from} ~> {to};`"),
            Form::Data => format!("`{{ \"from\": \"{from}\", \"to\": \"{to}\", \"pick\": true }}` to `routes`"),
            Form::File => format!("`- {to}` to the `routes` of {}", quoted(from)),
        }
    }

    /// An entry without a condition, to be added.
    pub(super) fn default_entry(self, skill: &str) -> String {
        match self {
            Form::Language => format!("`entry {skill};`"),
            Form::Data | Form::File => format!("`{{ \"skill\": \"{skill}\" }}` to `entries`"),
        }
    }

    /// An entry with a condition, to be added.
    pub(super) fn entry(self, skill: &str) -> String {
        match self {
            Form::Language => format!("`entry {skill} when …;`"),
            Form::Data | Form::File => format!("`{{ \"skill\": \"{skill}\", \"when\": … }}` to `entries`"),
        }
    }

    /// What leaves a skill to its rule.
    pub(super) fn never_picked(self) -> &'static str {
        match self {
            Form::Language => "`{ picked: never }`",
            Form::Data | Form::File => "`\"never_picked\": true`",
        }
    }

    /// A label.
    pub(super) fn label(self) -> &'static str {
        match self {
            Form::Language | Form::File => "`as \"…\"`",
            Form::Data => "`\"label\"`",
        }
    }

    /// A rule that is a pattern.
    pub(super) fn pattern(self, pattern: &str) -> String {
        match self {
            Form::Language => format!("`matches(r\"{pattern}\")`"),
            Form::Data | Form::File => {
                let pattern = pattern.replace('\\', "\\\\").replace('"', "\\\"");
                format!("`{{ \"matches\": \"{pattern}\" }}`")
            }
        }
    }
}

fn quoted(skill: &str) -> String {
    if skill == "…" { "another skill".to_owned() } else { format!("`{skill}`") }
}
