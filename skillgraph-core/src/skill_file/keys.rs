//! What each key of the front matter says, in a form that a declaration takes.

use std::collections::HashSet;

use super::yaml::{Node, Scalar, Value, YamlError};
use super::{DESCRIPTION_LENGTH, Data, FileRoute, Part, SkillFile, refused, route, yaml};
use crate::decl::{OnSkip, OnUnfinished, StepDecl, Steps, Surface, Word, is_skill_id};
use crate::finding::{Code, Finding};
use crate::suggest::{closest, listed};
use crate::text::is_blank;

/// The keys that are read, in the order in which they are written.
pub(super) const KEYS: [&str; 11] = [
    "name",
    "description",
    "tools",
    "steps",
    "on-skip",
    "surface",
    "routes",
    "license",
    "compatibility",
    "allowed-tools",
    "metadata",
];

/// What the standard allows `compatibility` at the most, in characters.
const COMPATIBILITY_LENGTH: usize = 500;

/// What to write under `tools`.
const LIST_OF_TOOLS: &str = "write names alone, with commas between them: `tools: find_order, pay`";

/// The file as far as it can be read; none where it has no name or no keys at all.
pub(super) fn read(
    text: &str,
    front: Part,
    body: Part,
    findings: &mut Vec<Finding<Part>>,
    notes: &mut Vec<Finding<Part>>,
) -> Option<SkillFile> {
    let yaml = text.get(front.clone()).unwrap_or_default();
    let pairs = match yaml::parse(yaml, front.start) {
        Ok(Some(Node { value: Value::Map(pairs), .. })) => pairs,
        Ok(None) => Vec::new(),
        Ok(Some(other)) => {
            let finding =
                refused(other.at.clone(), format!("the front matter is {}, not keys with values", other.kind()));
            findings.push(finding.help("write `name: …` and `description: …`, each on a line of its own"));
            return None;
        }
        Err(error) => {
            findings.push(explain(text, front.start, error));
            return None;
        }
    };
    let said = pairs.iter().filter_map(|(key, node)| text_of(key).filter(|key| says_something(key, node)));
    let said = said.map(str::to_owned).collect();
    let mut reader = Reader { text, front, said, findings, notes };
    let file = reader.file(pairs, body);
    Some(file)
}

/// Whether a key is written back: one that says nothing is not.
fn says_something(key: &str, node: &Node) -> bool {
    match key {
        "allowed-tools" => !words(node).is_empty(),
        "metadata" => matches!(&node.value, Value::Map(pairs) if !pairs.is_empty()),
        _ => true,
    }
}

struct Reader<'a> {
    text: &'a str,
    front: Part,
    /// The keys of the file that say something.
    said: HashSet<String>,
    findings: &'a mut Vec<Finding<Part>>,
    notes: &'a mut Vec<Finding<Part>>,
}

impl Reader<'_> {
    fn file(&mut self, pairs: Vec<(Node, Node)>, body: Part) -> SkillFile {
        let front = self.front.start..self.front.start;
        let mut file = SkillFile {
            name: Word::new("", front.clone()),
            description: Word::new("", front.clone()),
            body: Word::new(self.text.get(body.clone()).unwrap_or_default(), body.clone()),
            tools: Vec::new(),
            steps: None,
            on_skip: None,
            on_unfinished: None,
            surface: None,
            routes: Vec::new(),
            license: None,
            compatibility: None,
            allowed_tools: Vec::new(),
            metadata: Vec::new(),
            other_keys: Vec::new(),
        };
        let mut seen: HashSet<String> = HashSet::new();
        for (key, node) in pairs {
            if let Some(name) = self.new_key(&key, &mut seen) {
                self.take(&name, &key, node, &mut file);
            }
        }
        for required in ["name", "description"] {
            if !seen.contains(required) {
                let finding = refused(front.clone(), format!("the front matter has no `{required}`"));
                self.push(finding.help(format!("add `{required}: …`")));
            }
        }
        if file.body.text.is_empty() {
            let finding = Finding::new(Code::EmptyText, body, "the file has no instructions");
            self.push(finding.help("write them after the front matter: they are what the model goes by"));
        }
        file
    }

    fn push(&mut self, finding: Finding<Part>) {
        self.findings.push(finding);
    }

    /// A key of a map, of which those before it are known. One that is none, or stands there again, is refused.
    fn new_key(&mut self, key: &Node, seen: &mut HashSet<String>) -> Option<String> {
        let Some(name) = text_of(key).filter(|name| !is_blank(name)) else {
            self.push(refused(key.at.clone(), "a value without a key").help("write `key: value`"));
            return None;
        };
        if !seen.insert(name.to_owned()) {
            self.push(refused(key.at.clone(), format!("`{name}` stands here twice")).help("remove one of the two"));
            return None;
        }
        Some(name.to_owned())
    }

    fn take(&mut self, name: &str, key: &Node, node: Node, file: &mut SkillFile) {
        match name {
            "name" => file.name = self.name(key, &node),
            "description" => file.description = self.description(key, &node),
            "tools" => file.tools = self.tools(key, &node),
            "steps" => file.steps = self.steps(key, &node),
            "on-skip" => {
                file.on_skip = self.choice(name, key, &node, &[("advance", OnSkip::Advance), ("hold", OnSkip::Hold)]);
            }
            "on-unfinished" => {
                let choices = [("nudge", OnUnfinished::Nudge), ("accept", OnUnfinished::Accept)];
                file.on_unfinished = self.choice(name, key, &node, &choices);
            }
            "surface" => {
                let surfaces = [
                    ("system_prompt", Surface::SystemPrompt),
                    ("tool_result", Surface::ToolResult),
                    ("both", Surface::Both),
                ];
                file.surface = self.choice(name, key, &node, &surfaces);
            }
            "routes" => file.routes = self.routes(key, &node),
            "license" => file.license = self.text(name, key, &node).map(|word| word.text),
            "compatibility" => {
                file.compatibility = self.text(name, key, &node).map(|word| {
                    let length = word.text.chars().count();
                    if length > COMPATIBILITY_LENGTH {
                        self.push(too_long("compatibility", word.at.clone(), length, COMPATIBILITY_LENGTH));
                    }
                    word.text
                });
            }
            "allowed-tools" => {
                file.allowed_tools = words(&node);
                let note =
                    refused(key.at.clone(), "`allowed-tools` is not the skill's tool list: nothing here reads it");
                self.notes.push(note.help("the tools that the skill unlocks stand under `tools`"));
            }
            "metadata" => {
                self.check_keys(&node);
                match data(&node) {
                    Data::Map(pairs) => file.metadata.extend(pairs),
                    Data::Null => {}
                    _ => {
                        let finding =
                            refused(node.at.clone(), format!("`metadata` is {}, not keys with values", node.kind()));
                        self.push(finding.help("write `key: value` lines under it, indented"));
                    }
                }
            }
            unknown => self.unknown(unknown, key, &node, file),
        }
    }

    /// Kept and reported; one that is nearly a key that is read is refused, because it was meant to be read.
    fn unknown(&mut self, name: &str, key: &Node, node: &Node, file: &mut SkillFile) {
        let spelt = |name: &str| name.replace(['_', '-'], "").to_lowercase();
        self.check_keys(node);
        let near = KEYS.into_iter().find(|known| spelt(known) == spelt(name)).or_else(|| closest(name, KEYS));
        // Where the key stands there too, the other is not a misspelling of it.
        let near = near.filter(|near| !self.said.contains(*near));
        match near {
            Some(near) => {
                let finding = refused(key.at.clone(), format!("there is no key `{name}`"));
                self.push(
                    finding
                        .help(format!("a key with a similar name exists: `{near}`"))
                        .note("what is meant for others stands under `metadata`"),
                );
            }
            None => {
                let note = refused(key.at.clone(), format!("nobody reads the key `{name}`: it is kept as it is"));
                self.notes.push(note);
                file.other_keys.push((name.to_owned(), data(node)));
            }
        }
    }

    /// Refuses what a map of a value says under no key, and under one key twice, however deep.
    fn check_keys(&mut self, node: &Node) {
        match &node.value {
            Value::Map(pairs) => {
                let mut seen: HashSet<String> = HashSet::new();
                for (key, value) in pairs {
                    self.new_key(key, &mut seen);
                    self.check_keys(value);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.check_keys(item)),
            Value::Null | Value::Scalar(_) => {}
        }
    }

    fn name(&mut self, key: &Node, node: &Node) -> Word<Part> {
        let Some(word) = self.text("name", key, node) else { return Word::new("", key.at.clone()) };
        if !is_skill_id(&word.text) {
            let finding =
                Finding::new(Code::InvalidName, word.at.clone(), format!("`{}` is not the name of a skill", word.text));
            self.push(finding.help("use 1 to 64 of `a-z`, `0-9` and `-`, without `-` at the ends and without `--`"));
        }
        word
    }

    fn description(&mut self, key: &Node, node: &Node) -> Word<Part> {
        let Some(word) = self.text("description", key, node) else { return Word::new("", key.at.clone()) };
        let length = word.text.chars().count();
        if length > DESCRIPTION_LENGTH {
            self.push(too_long("description", word.at.clone(), length, DESCRIPTION_LENGTH));
        }
        word
    }

    /// A text that says something, whole.
    fn text(&mut self, name: &str, key: &Node, node: &Node) -> Option<Word<Part>> {
        match &node.value {
            Value::Scalar(scalar) if scalar.not_text => {
                let finding = refused(node.at.clone(), format!("`{name}` is {}, not a text", node.kind()));
                self.push(finding.help(format!("put it between quotes: `{name}: \"{}\"`", scalar.text)));
                None
            }
            Value::Scalar(scalar) if is_blank(&scalar.text) => self.blank(name, key),
            Value::Scalar(scalar) => {
                self.refuse_cut(name, scalar, node);
                Some(Word::new(scalar.text.trim(), node.at.clone()))
            }
            Value::Null => self.blank(name, key),
            Value::List(_) | Value::Map(_) => {
                let finding = refused(node.at.clone(), format!("`{name}` is {}, not a text", node.kind()));
                self.push(finding.help("put the whole value between quotes"));
                None
            }
        }
    }

    fn blank(&mut self, name: &str, key: &Node) -> Option<Word<Part>> {
        let finding = Finding::new(Code::EmptyText, key.at.clone(), format!("`{name}` says nothing"));
        let rest = self.text.get(key.at.end..self.front.end).unwrap_or_default();
        let written = rest.split('\n').next().unwrap_or_default().trim_start_matches(':').trim();
        self.push(if written.starts_with('#') {
            finding
                .help(format!("put it between quotes: `{name}: \"{written}\"`"))
                .note("YAML takes what follows ` #` for a remark")
        } else {
            finding.help(format!("write what it is after `{name}:`"))
        });
        None
    }

    /// YAML ends an unquoted value at ` #`: what follows would be lost.
    fn refuse_cut(&mut self, name: &str, scalar: &Scalar, node: &Node) {
        let rest = self.text.get(node.at.end..self.front.end).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        if !scalar.plain || !line.trim_start().starts_with('#') {
            return;
        }
        let at = node.at.end + line.len() - line.trim_start().len();
        let finding = refused(at..node.at.end + line.len(), format!("` #` inside an unquoted {name}"));
        self.push(
            finding
                .help("put the whole value between quotes, or the remark on a line of its own")
                .note("YAML takes what follows ` #` for a remark, and the value ends before it"),
        );
    }

    /// `a, b`, a list, or one name.
    fn tools(&mut self, key: &Node, node: &Node) -> Vec<Word<Part>> {
        let tools = match &node.value {
            Value::Scalar(scalar) => self.comma_list(scalar, node),
            Value::List(items) => items.iter().filter_map(|item| self.tool_name(item, LIST_OF_TOOLS)).collect(),
            Value::Map(_) => {
                let finding = refused(node.at.clone(), "`tools` is a map, not a list of names");
                self.push(finding.help("write `tools: a, b`; why a tool comes now stands under `steps`"));
                return Vec::new();
            }
            Value::Null => Vec::new(),
        };
        let said_nothing = match &node.value {
            Value::List(items) => items.is_empty(),
            Value::Scalar(scalar) => scalar.text.split(',').all(is_blank),
            _ => tools.is_empty(),
        };
        if said_nothing {
            let finding = Finding::new(Code::EmptyList, key.at.clone(), "`tools` names no tool");
            self.push(finding.help("name one, or remove the key"));
        }
        tools
    }

    /// Names with commas between them, each at its own place where the text stands as it is written.
    fn comma_list(&mut self, scalar: &Scalar, node: &Node) -> Vec<Word<Part>> {
        let inner = self.inner(scalar, node);
        let mut at = 0;
        let mut names = Vec::new();
        for piece in scalar.text.split(',') {
            let start = at + piece.len() - piece.trim_start().len();
            let name = piece.trim();
            at += piece.len() + 1;
            if !name.is_empty() {
                let place = inner.map_or(node.at.clone(), |inner| inner + start..inner + start + name.len());
                names.extend(self.tool_word(name, place, LIST_OF_TOOLS));
            }
        }
        names
    }

    /// Where the text itself begins, if it stands in the file as it is.
    fn inner(&self, scalar: &Scalar, node: &Node) -> Option<usize> {
        let written = self.text.get(node.at.clone())?;
        Some(node.at.start + written.find(&scalar.text)?)
    }

    fn tool_name(&mut self, item: &Node, help: &str) -> Option<Word<Part>> {
        match &item.value {
            Value::Scalar(scalar) if !is_blank(&scalar.text) => {
                self.tool_word(scalar.text.trim(), item.at.clone(), help)
            }
            Value::Map(_) => {
                let finding = refused(item.at.clone(), "a tool with a colon after it");
                self.push(finding.help("name the tool alone; why it comes now stands under `steps`"));
                None
            }
            _ => {
                self.push(refused(item.at.clone(), "a tool without a name").help("name it, or remove the `-`"));
                None
            }
        }
    }

    /// A name as a graph may have it; what else stands there was meant for YAML, and YAML has not taken it.
    fn tool_word(&mut self, name: &str, at: Part, help: &str) -> Option<Word<Part>> {
        if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
            let finding = Finding::new(Code::InvalidName, at, format!("`{name}` is not the name of a tool"));
            self.push(finding.help(help).note("a tool's name has letters, digits, `_` and `-`"));
            return None;
        }
        Some(Word::new(name, at))
    }

    /// `- tool: why`, one a line.
    fn steps(&mut self, key: &Node, node: &Node) -> Option<Steps<Part>> {
        let help = "write each step on a line of its own: `- find_order: look it up before anything else`";
        let items = match &node.value {
            Value::List(items) => items,
            Value::Null => {
                let finding = Finding::new(Code::EmptyList, key.at.clone(), "`steps` has no step");
                self.push(finding.help(help));
                return None;
            }
            _ => {
                self.push(refused(node.at.clone(), format!("`steps` is {}, not a list", node.kind())).help(help));
                return None;
            }
        };
        if items.is_empty() {
            self.push(Finding::new(Code::EmptyList, node.at.clone(), "`steps` has no step").help(help));
            return None;
        }
        let list: Vec<StepDecl<Part>> = items.iter().filter_map(|item| self.step(item, help)).collect();
        (!list.is_empty()).then(|| Steps { at: key.at.clone(), list })
    }

    fn step(&mut self, item: &Node, help: &str) -> Option<StepDecl<Part>> {
        let Value::Map(pairs) = &item.value else {
            self.push(refused(item.at.clone(), "a step without a reason").help(help));
            return None;
        };
        let [(tool, note)] = pairs.as_slice() else {
            self.push(refused(item.at.clone(), "a step of several keys").help(help));
            return None;
        };
        let tool_name = self.tool_name(tool, help)?;
        let note = match &note.value {
            Value::Scalar(scalar) if !is_blank(&scalar.text) => {
                self.refuse_cut("reason", scalar, note);
                Word::new(scalar.text.trim(), note.at.clone())
            }
            Value::Null | Value::Scalar(_) => {
                self.push(refused(tool.at.clone(), "a step without a reason").help(help));
                return None;
            }
            Value::List(_) | Value::Map(_) => {
                let finding = refused(note.at.clone(), format!("the reason of a step is {}, not a text", note.kind()));
                self.push(finding.help("put the whole reason between quotes"));
                return None;
            }
        };
        Some(StepDecl { tool: tool_name, note, produces: None, consumes: None })
    }

    /// One word of a closed set.
    fn choice<T: Copy>(&mut self, name: &str, key: &Node, node: &Node, words: &[(&str, T)]) -> Option<(T, Part)> {
        let known = || words.iter().map(|(word, _)| *word);
        let said = match &node.value {
            Value::Scalar(scalar) => scalar.text.trim(),
            _ => "",
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == said) {
            return Some((*value, node.at.clone()));
        }
        let at = if node.at.is_empty() { key.at.clone() } else { node.at.clone() };
        let finding = refused(at, format!("`{said}` is not a choice for `{name}`"));
        self.push(finding.help(format!("the choices are {}", listed(known()))));
        None
    }

    /// `- target`, or `- target: on tool is status where guard`.
    fn routes(&mut self, key: &Node, node: &Node) -> Vec<FileRoute> {
        let help = "write each edge on a line of its own: `- audit-log: on get_invoice is denied`";
        let items = match &node.value {
            Value::List(items) if !items.is_empty() => items,
            Value::List(_) | Value::Null => {
                let finding = Finding::new(Code::EmptyList, key.at.clone(), "`routes` has no edge");
                self.push(finding.help(help));
                return Vec::new();
            }
            _ => {
                self.push(refused(node.at.clone(), format!("`routes` is {}, not a list", node.kind())).help(help));
                return Vec::new();
            }
        };
        items.iter().filter_map(|item| self.route(item, help)).collect()
    }

    fn route(&mut self, item: &Node, help: &str) -> Option<FileRoute> {
        let target = |node: &Node| match &node.value {
            Value::Scalar(scalar) if !is_blank(&scalar.text) => Some(Word::new(scalar.text.trim(), node.at.clone())),
            _ => None,
        };
        let (to, trigger) = match &item.value {
            Value::Map(pairs) => match pairs.as_slice() {
                [(to, trigger)] => (target(to), Some(trigger)),
                _ => {
                    self.push(refused(item.at.clone(), "an edge of several keys").help(help));
                    return None;
                }
            },
            _ => (target(item), None),
        };
        let Some(to) = to else {
            self.push(refused(item.at.clone(), "an edge that leads nowhere").help(help));
            return None;
        };
        let (trigger, label) = match trigger.map(|node| (node, &node.value)) {
            None | Some((_, Value::Null)) => (crate::decl::Trigger::Pick, None),
            Some((node, Value::Scalar(scalar))) => {
                let place = match self.inner(scalar, node) {
                    Some(start) => route::Place::AsWritten(start),
                    None => route::Place::Whole(node.at.clone()),
                };
                self.refuse_cut("edge", scalar, node);
                match route::parse(&scalar.text, &place) {
                    Ok(parsed) => parsed,
                    Err(finding) => {
                        self.push(*finding);
                        return None;
                    }
                }
            }
            Some((node, _)) => {
                self.push(
                    refused(node.at.clone(), format!("what fires an edge is {}, not a text", node.kind())).help(help),
                );
                return None;
            }
        };
        Some(FileRoute { to, trigger, label })
    }
}

/// The text of a key.
fn text_of(key: &Node) -> Option<&str> {
    match &key.value {
        Value::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

fn too_long(name: &str, at: Part, length: usize, limit: usize) -> Finding<Part> {
    refused(at, format!("`{name}` has {length} characters, and the maximum is {limit}"))
        .help("say what it is for; the rest belongs into the instructions")
}

/// The words of `allowed-tools`, whichever of its four shapes it has.
fn words(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Scalar(scalar) => pieces(&scalar.text),
        Value::List(items) => items
            .iter()
            .filter_map(|item| match &item.value {
                Value::Scalar(scalar) => Some(scalar.text.clone()),
                _ => None,
            })
            .collect(),
        Value::Null | Value::Map(_) => Vec::new(),
    }
}

/// At commas and white space, but not inside `Bash(git add:*)`.
fn pieces(text: &str) -> Vec<String> {
    let mut depth = 0usize;
    let mut pieces = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match pieces.last_mut() {
            Some(last) if depth > 0 || !(c == ',' || c.is_whitespace()) => last.push(c),
            _ => pieces.push(String::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn data(node: &Node) -> Data {
    match &node.value {
        Value::Null => Data::Null,
        Value::Scalar(scalar) => Data::Text(scalar.text.clone()),
        Value::List(items) => Data::List(items.iter().map(data).collect()),
        Value::Map(pairs) => Data::Map(
            pairs.iter().map(|(key, value)| (text_of(key).unwrap_or_default().to_owned(), data(value))).collect(),
        ),
    }
}

/// What the YAML parser refuses, in words about this file.
fn explain(text: &str, start: usize, error: YamlError) -> Finding<Part> {
    let at = error.at.start;
    let before = text.get(start..at).unwrap_or_default();
    let line_start = start + before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(line_start..).unwrap_or_default().split('\n').next().unwrap_or_default();
    let key = line.split(':').next().unwrap_or_default().trim();
    let value_at = line.find(": ").map_or(line.len(), |colon| colon + 2);
    let value = line.get(value_at..).unwrap_or_default().trim_start();
    let value_at = line_start + line.len() - value.len();
    let quote = |value: &str| {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("put it between quotes: `{key}: \"{escaped}\"`")
    };
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_key && at > value_at && error.reason.contains("mapping values are not allowed") {
        let what = if KEYS.contains(&key) { key } else { "value" };
        return refused(at..at + 1, format!("`: ` inside an unquoted {what}"))
            .help(quote(value.trim_end()))
            .note("YAML takes `: ` for the end of a key");
    }
    if is_key && !value.is_empty() && at >= value_at {
        let first = value.chars().next().unwrap_or_default();
        if matches!(first, '@' | '`' | '%' | '*' | '&' | '!' | '[' | '{' | '"' | '\'' | '|' | '>' | ',' | ']' | '}')
            && !line.starts_with(' ')
        {
            let end = value_at + value.trim_end().len();
            let is_quote = matches!(first, '"' | '\'');
            let left = text.get(value_at..).unwrap_or_default().split("\n---").next().unwrap_or_default();
            if let Some(close) = close_of(first).filter(|close| !left.contains(*close)) {
                return never_ends(value_at..end, first, close);
            }
            let what = match first {
                _ if is_quote && value.matches(first).count() == 1 => "this quotation never ends".to_owned(),
                '[' | '{' | '"' | '\'' => format!("words follow the {} that this value begins with", closing_of(first)),
                _ => format!("an unquoted value cannot begin with `{first}`"),
            };
            let help = match key {
                "tools" => LIST_OF_TOOLS.to_owned(),
                _ if is_quote => quote(value.trim_end().trim_matches(first)),
                _ => quote(value.trim_end()),
            };
            return refused(value_at..end, what).help(help);
        }
    }
    if line.starts_with("<<<<<<<") || line.starts_with("=======") || line.starts_with(">>>>>>>") {
        return refused(line_start..line_start + line.len(), "a conflict of a merge stands in the front matter")
            .help("choose one of the two sides and remove the marks");
    }
    if line.trim_start().starts_with("- ") && error.reason.contains("did not find expected key") {
        let begin = line_start + line.len() - line.trim_start().len();
        return refused(begin..line_start + line.trim_end().len(), "this item belongs to no list")
            .help("put it under a key that has no value of its own, or remove it");
    }
    let opened = [("flow mapping", '{'), ("flow sequence", '[')];
    if let Some((_, open)) = opened.into_iter().find(|(what, _)| error.reason.contains(&format!("parsing a {what}")))
        && let (Some(open_at), Some(close)) = (before.rfind(open), close_of(open))
    {
        let open_at = start + open_at;
        return never_ends(open_at..open_at + 1, open, close);
    }
    let is_key_line = is_key || line.starts_with(' ');
    if error.reason.contains("simple key expected") || !line.contains(':') || !is_key_line {
        return refused(line_start..line_start + line.len().max(1), "this line is no `key: value`").help(
            "write `key: value`, indent what belongs to the line before, or move the text after the second `---`",
        );
    }
    refused(error.at, format!("the front matter is not YAML: {}", error.reason))
        .help("put values with punctuation between quotes")
}

/// A list or a map that is not closed.
fn never_ends(at: Part, open: char, close: char) -> Finding<Part> {
    refused(at, format!("this {} never ends", closing_of(open)))
        .help(format!("close it with `{close}`, or put the whole value between quotes where it is a text"))
}

/// What closes a list or a map.
fn close_of(open: char) -> Option<char> {
    match open {
        '[' => Some(']'),
        '{' => Some('}'),
        _ => None,
    }
}

fn closing_of(first: char) -> &'static str {
    match first {
        '[' => "list",
        '{' => "map",
        _ => "quotation",
    }
}
