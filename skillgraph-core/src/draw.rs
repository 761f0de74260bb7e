//! Drawing a graph as Mermaid text.
//!
//! The same graph gives the same text. Every skill, entry and edge is drawn once, in declaration order. Node ids are
//! numbers, so that no name can collide with another or with a word of the diagram language; names stand in quoted
//! labels, escaped so that the renderer shows exactly the text.
// SPEC 15.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::decl::{Branch, Condition, EntryDecl, GraphDecl, RouteDecl, Trigger, TriggerTools, Word};
use crate::text::{is_control, shortened};

/// How many keywords a caption shows before it counts the rest.
const MOST_KEYWORDS: usize = 3;

/// How many characters of a text a node or a caption shows.
const MOST_CHARACTERS: usize = 60;
/// What Mermaid draws unless its settings say otherwise: so many characters of text, and so many edges.
const MERMAID_LIMITS: (usize, usize) = (50_000, 500);

/// Draws the graph as a Mermaid flowchart. A name that is not declared is drawn as an unknown skill, so that a graph with mistakes
/// can be looked at, too. Texts are cut after 60 characters; a drawing that is larger than what Mermaid draws by default begins with
/// a comment that says so.
///
/// Solid arrows are rules and edges that the graph takes by itself, dashed ones only the model's own pick takes: `~>` edges,
/// entries `when picked`, and skills that nothing leads to, which `read_skill` opens from anywhere. An entry behind a solid arrow
/// can be picked as well, unless its caption says `never picked`.
pub fn to_mermaid<S>(decl: &GraphDecl<S>) -> String {
    let tools: HashMap<&str, &str> =
        decl.tools.iter().rev().map(|tool| (tool.ident.text.as_str(), tool.name.text.as_str())).collect();
    let mut nodes = Nodes::of(decl);
    let mut lines = vec![format!("start([\"{}\"])", escape(&decl.name.text))];
    for (at, skill) in decl.skills.iter().enumerate() {
        let description =
            skill.description.as_ref().map_or(String::new(), |text| format!("<br/>{}", escape(&text.text)));
        lines.push(format!("n{at}[\"{}{description}\"]", escape(&skill.id.text)));
    }
    let mut order = 0;
    for entry in &decl.entries {
        // The default is tried last, wherever it stands.
        order += usize::from(entry.condition.is_some());
        let arrow = if matches!(entry.condition, Some(Condition::Picked { .. })) { "-.->" } else { "-->" };
        let caption = escape(&entry_caption(order, entry));
        lines.push(format!("start {arrow}|\"{caption}\"| {}", nodes.named(&entry.skill.text)));
    }
    for at in open_skills(decl, &nodes.known) {
        lines.push(format!("start -.->|\"read_skill\"| n{at}"));
    }
    if let Some(tree) = &decl.tree {
        let mut tests = 0;
        lines.extend(branch_lines("start", None, &tree.root, &mut nodes, &mut tests));
    }
    for (at, skill) in decl.catalog_skills().enumerate() {
        let header = skill.header.as_ref().map_or(String::new(), |text| format!("<br/>{}", escape(&text.text)));
        lines.push(format!("c{at}[[\"{}{header}\"]]", escape(&skill.key.text)));
        lines.push(format!("start -.->|\"open_skill\"| c{at}"));
    }
    for route in &decl.routes {
        let (from, to) = (nodes.named(&route.from.text), nodes.named(&route.to.text));
        let arrow = if route.trigger.is_pick() { "-.->" } else { "-->" };
        lines.push(format!("{from} {arrow}|\"{}\"| {to}", escape(&route_caption(route, &tools))));
    }
    for (at, name) in nodes.unknown.iter().enumerate() {
        lines.push(format!("u{at}[\"{}<br/>(not declared)\"]", escape(name)));
    }
    let edges = lines.iter().filter(|line| line.contains("-->") || line.contains("-.->")).count();
    let text: usize = lines.iter().map(|line| line.chars().count() + 3).sum();
    let mut drawing = String::from("flowchart TD\n");
    if edges > MERMAID_LIMITS.1 || text > MERMAID_LIMITS.0 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            drawing,
            "  %% {edges} edges and {text} characters are more than Mermaid draws by default ({} and {}): raise maxEdges and maxTextSize",
            MERMAID_LIMITS.1, MERMAID_LIMITS.0
        );
    }
    for line in lines {
        let _ = writeln!(drawing, "  {line}");
    }
    drawing
}

/// The nodes of a drawing: declared skills by their place, and names that nothing declares.
struct Nodes<'a> {
    known: HashMap<&'a str, usize>,
    unknown: Vec<&'a str>,
}

impl<'a> Nodes<'a> {
    fn of<S>(decl: &'a GraphDecl<S>) -> Self {
        let skills = decl.skills.iter().enumerate().rev();
        Self { known: skills.map(|(at, skill)| (skill.ident.text.as_str(), at)).collect(), unknown: Vec::new() }
    }

    /// The node of a skill that is named somewhere.
    fn named(&mut self, name: &'a str) -> String {
        if let Some(at) = self.known.get(name) {
            return format!("n{at}");
        }
        let at = self.unknown.iter().position(|unknown| *unknown == name).unwrap_or_else(|| {
            self.unknown.push(name);
            self.unknown.len() - 1
        });
        format!("u{at}")
    }
}

/// A part of a tree: an arrow from where it hangs, then a test with what follows from it.
fn branch_lines<'a, S>(
    from: &str,
    answer: Option<&str>,
    branch: &'a Branch<S>,
    nodes: &mut Nodes<'a>,
    tests: &mut usize,
) -> Vec<String> {
    let arrow = answer.map_or("-->".to_owned(), |answer| format!("-->|\"{answer}\"|"));
    match branch {
        Branch::Leaf(skill) => vec![format!("{from} {arrow} {}", nodes.named(&skill.text))],
        Branch::Fork(fork) => {
            let own = format!("test{tests}");
            *tests += 1;
            let mut lines = vec![
                format!("{own}{{\"{}\"}}", escape(&condition_caption(&fork.condition))),
                format!("{from} {arrow} {own}"),
            ];
            lines.extend(branch_lines(&own, Some("yes"), &fork.then, nodes, tests));
            if let Some(branch) = &fork.otherwise {
                lines.extend(branch_lines(&own, Some("no"), branch, nodes, tests));
            }
            lines
        }
    }
}

/// `entry 2: refund, charged twice`: the order is part of the meaning.
fn entry_caption<S>(order: usize, entry: &EntryDecl<S>) -> String {
    let what = match (&entry.label, &entry.condition) {
        (Some(label), _) => label.text.clone(),
        (None, Some(condition)) => condition_caption(condition),
        (None, None) => "default".to_owned(),
    };
    let never = if entry.never_picked.is_some() { ", never picked" } else { "" };
    match entry.condition {
        Some(_) => format!("entry {order}: {what}{never}"),
        None => format!("{what}{never}"),
    }
}

/// The skills that nothing leads to, in declaration order.
fn open_skills<S>(decl: &GraphDecl<S>, nodes: &HashMap<&str, usize>) -> Vec<usize> {
    let entries = decl.entries.iter().map(|entry| &entry.skill);
    let ends = decl.routes.iter().flat_map(|route| [&route.from, &route.to]);
    let leaves = decl.tree.iter().flat_map(|tree| tree.root.leaves());
    let named = entries.chain(ends).chain(leaves).filter_map(|name| nodes.get(name.text.as_str()));
    let wired: HashSet<usize> = named.copied().collect();
    (0..decl.skills.len()).filter(|at| !wired.contains(at)).collect()
}

fn condition_caption<S>(condition: &Condition<S>) -> String {
    match condition {
        Condition::Matches(pattern) => format!("/{}/", pattern.text),
        Condition::Keywords { list, .. } => {
            let shown: Vec<&str> = list.iter().take(MOST_KEYWORDS).map(|word| word.text.as_str()).collect();
            let rest = list.len() - shown.len();
            let rest = if rest == 0 { String::new() } else { format!(", and {rest} more") };
            format!("{}{rest}", shown.join(", "))
        }
        Condition::All { list, .. } => list.iter().map(condition_caption).collect::<Vec<_>>().join(" and "),
        Condition::Closure(source) => source.text.clone(),
        Condition::Intent { intent, .. } => format!("intent: {}", intent.text),
        Condition::Picked { .. } => "picked from the menu".to_owned(),
    }
}

fn route_caption<S>(route: &RouteDecl<S>, names: &HashMap<&str, &str>) -> String {
    if let Some(label) = &route.label {
        return label.text.clone();
    }
    match &route.trigger {
        Trigger::Pick => "the model's pick".to_owned(),
        Trigger::Closure(source) => format!("when {}", source.text),
        Trigger::Returns { tools, statuses, guard, closure } => {
            let statuses = statuses.map_or(String::new(), |set| {
                format!(" is {}", set.iter().map(|status| status.as_str()).collect::<Vec<_>>().join(" or "))
            });
            let closure = closure.as_ref().map_or(String::new(), |source| format!(" when {}", source.text));
            let terms = guard.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            let guard = if guard.is_empty() { terms } else { format!(" where {terms}") };
            format!("on {}{statuses}{guard}{closure}", tools_caption(tools, names))
        }
    }
}

fn tools_caption<S>(tools: &TriggerTools<S>, names: &HashMap<&str, &str>) -> String {
    let name_of = |word: &Word<S>| names.get(word.text.as_str()).copied().unwrap_or(&word.text).to_owned();
    match tools {
        TriggerTools::One(tool) => name_of(tool),
        TriggerTools::AnyOf { list, .. } => list.iter().map(name_of).collect::<Vec<_>>().join(" or "),
        TriggerTools::Any { .. } => "any tool".to_owned(),
    }
}

/// A text inside a quoted Mermaid label.
///
/// `#` begins an entity there, `"` ends the label, `&` and `<` begin markup, a backtick or `*` or `_` at the edge of a
/// word begins formatted text, `\n` breaks the line, and a line that begins like a list item becomes an error message.
fn escape(text: &str) -> String {
    let text = shortened(text.trim(), MOST_CHARACTERS);
    let mut escaped = String::with_capacity(text.len());
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    let mut line_begins = true;
    while let Some(c) = chars.next() {
        let inside_word =
            before.is_some_and(char::is_alphanumeric) && chars.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '\n' => escaped.push_str("<br/>"),
            '\r' => {}
            // The renderer breaks the line at `\\n` even where it is escaped: an invisible joiner keeps the two apart.
            '\\' if chars.peek() == Some(&'n') => escaped.push_str("#92;#8288;"),
            '#' | '"' | '&' | '<' | '>' | '|' | '`' | '\\' | '*' | '~' | ';' => push_entity(&mut escaped, c),
            // A directive in a label would be taken as one of the drawing.
            '%' | '{' | '}' => push_entity(&mut escaped, c),
            '_' if !inside_word => push_entity(&mut escaped, c),
            '-' | '+' | '=' if line_begins => push_entity(&mut escaped, c),
            '.' | ')' if before.is_some_and(|c| c.is_ascii_digit()) => push_entity(&mut escaped, c),
            c if is_control(c) => escaped.push(' '),
            c => escaped.push(c),
        }
        line_begins = c == '\n' || (line_begins && c.is_whitespace());
        before = Some(c);
    }
    escaped
}

fn push_entity(escaped: &mut String, c: char) {
    let _ = write!(escaped, "#{};", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::escape;

    /// What the renderer makes of a label: `#nn;` is the character of that number, `<br/>` a line break.
    fn shown(label: &str) -> String {
        let mut text = String::new();
        let mut rest = label;
        while let Some(at) = rest.find('#') {
            text.push_str(&rest[..at]);
            let (entity, after) = rest[at + 1..].split_once(';').expect("an entity ends");
            text.push(char::from_u32(entity.parse().expect("a number")).expect("a character"));
            rest = after;
        }
        text.push_str(rest);
        text.replace("<br/>", "\n").replace('\u{2060}', "")
    }

    #[test]
    fn m61_labels_show_exactly_the_text() {
        let all: String = ('!'..='~').collect();
        for text in [
            "/(refund|charge)[a-z]+/i",
            "say \"hi\" (now)",
            "Vec<T>",
            "`cmd` first",
            "literal #quot;",
            "a & b &lt;",
            "%% end",
            "%%{init: {'themeCSS': '* { background: url(x) }'}}%%",
            "%%{wrap}%%",
            "{decision} {{hexagon}}",
            all.get(..48).unwrap_or_default(),
            all.get(48..).unwrap_or_default(),
            "急（急）",
            "back\\nslash",
            "1. first",
            "- item",
            "_x_ snake_case",
            "two\nlines",
            "quote\\\"",
            "**bold**",
        ] {
            let label = escape(text);
            assert_eq!(shown(&label), text);
            let bare = label.replace("<br/>", "");
            assert!(!bare.contains(['"', '<', '>', '`', '|', '&', '\\', '%', '{', '}']), "{label}");
        }
    }

    #[test]
    fn names_stay_readable() {
        assert_eq!(escape("audit-log"), "audit-log");
        assert_eq!(escape("on get_invoice"), "on get_invoice");
    }
}
