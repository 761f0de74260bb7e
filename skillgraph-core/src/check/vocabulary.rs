//! Tools that nobody offers, and tools that a body names and its skill does not have.
// SPEC 2.2.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use pulldown_cmark::{Event as MarkdownEvent, LinkType, Tag};

use super::body::blank;
use super::facts::Facts;
use crate::decl::{Body, Form, GraphDecl, Prose, SkillDecl, StepDecl, TextList, Word, leveled};
use crate::finding::{Code, Finding};
use crate::suggest::{closest, listed};

/// A tool is declared and offered nowhere.
pub(super) fn check_unused_tool<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let stocked = decl.catalog_skills().flat_map(|skill| &skill.tools);
    let used = decl.skills.iter().flat_map(|skill| &skill.tools).chain(&decl.baseline).chain(stocked);
    let used: HashSet<&str> = used.map(|tool| tool.text.as_str()).collect();
    for tool in decl.tools.iter().filter(|tool| !used.contains(tool.ident.text.as_str())) {
        let finding = Finding::new(
            Code::UnusedTool,
            tool.ident.at.clone(),
            format!("tool `{}` is declared and never offered", tool.ident.text),
        )
        .help("add it to the `tools` of a skill or to the `baseline`, or remove it");
        findings.extend(leveled(finding, &[&tool.lints, &decl.lints]));
    }
}

/// A body names a tool that its skill does not have.
pub(super) fn check_body_foreign_tool<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    bodies: &[ReadBody<'_, S>],
    findings: &mut Vec<Finding<S>>,
) {
    for ReadBody { skill, source, prose, words } in bodies {
        let mut said: HashSet<usize> = HashSet::new();
        let mentions = prose.mentions().map(|mention| (facts.tool(&mention.tool), mention.range.clone()));
        let words = words.iter().filter(|word| word.is_code || !is_plain(word.text));
        let words = words.map(|word| (facts.tool_by_name(word.text), word.range()));
        for (tool, range) in mentions.chain(words) {
            let Some(tool) = tool.filter(|tool| !facts.can_be_offered(*tool, skill)) else { continue };
            let Some(name) = decl.tools.get(tool).map(|tool| &tool.name.text).filter(|_| said.insert(tool)) else {
                continue;
            };
            let finding = Finding::new(
                Code::BodyForeignTool,
                source.at.clone(),
                format!("the body of skill `{}` names `{name}`, which is not offered there", skill.ident.text),
            )
            .within("body", &source.text, range)
            .help(format!(
                "add it to the `tools` of `{}`, or leave its name out: the model will call it and be refused",
                skill.ident.text
            ));
            findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
        }
    }
}

/// A body calls what exists nowhere.
pub(super) fn check_body_unknown_tool<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    bodies: &[ReadBody<'_, S>],
    findings: &mut Vec<Finding<S>>,
) {
    for ReadBody { skill, source, words, .. } in bodies {
        let mut said: HashSet<&str> = HashSet::new();
        for found in words {
            let Found { at, text: word, .. } = *found;
            let called = source.text.get(at + word.len()..).is_some_and(|rest| rest.trim_start().starts_with('('));
            if !called || !is_snake_case(word) || facts.tool_by_name(word).is_some() || !said.insert(word) {
                continue;
            }
            let finding = Finding::new(
                Code::BodyUnknownTool,
                source.at.clone(),
                format!("the body of skill `{}` calls `{word}(…)`, and no tool has that name", skill.ident.text),
            )
            .within("body", &source.text, found.range())
            .help(match skill.form {
                Form::Language => "write a tool of this graph as `{tool}`: then the compiler checks it",
                _ => "write the name of a tool of this graph, or say it without the brackets of a call",
            });
            findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
        }
    }
}

/// `produces: []` or `consumes: []`.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for (field, list) in kind_lists(decl).filter(|(_, list)| list.list.is_empty()) {
        findings.push(
            Finding::new(Code::EmptyList, list.at.clone(), format!("`{field}` names no kind of artifact"))
                .help("name at least one, or leave it out"),
        );
    }
}

/// A blank kind of artifact.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for kind in kind_lists(decl).flat_map(|(_, list)| &list.list).filter(|kind| kind.is_blank()) {
        findings.push(blank(kind, "a kind of artifact").help("name it as the skill does that makes or needs it"));
    }
}

/// One kind of artifact twice in one list.
pub(super) fn check_duplicate_kind<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for (field, list) in kind_lists(decl) {
        let mut seen: HashSet<&str> = HashSet::new();
        for kind in list.list.iter().filter(|kind| !seen.insert(&kind.text)) {
            findings.push(
                Finding::new(Code::DuplicateId, kind.at.clone(), format!("`{field}` lists `{}` twice", kind.text))
                    .help("remove one of the two"),
            );
        }
    }
}

/// Every `produces` and `consumes`, of skills and steps.
fn kind_lists<S>(decl: &GraphDecl<S>) -> impl Iterator<Item = (&'static str, &TextList<S>)> {
    let lists = decl.skills.iter().flat_map(|skill| {
        let steps = skill.steps.iter().flat_map(|steps| &steps.list);
        let of_steps = steps.flat_map(|step| [("produces", &step.produces), ("consumes", &step.consumes)]);
        [("produces", &skill.produces), ("consumes", &skill.consumes)].into_iter().chain(of_steps)
    });
    lists.filter_map(|(field, list)| Some((field, list.as_ref()?)))
}

/// A kind of artifact is consumed that nothing produces.
pub(super) fn check_artifact_kind_unsatisfied<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let of_skill = |skill: &SkillDecl<S>, step: fn(&StepDecl<S>) -> &Option<TextList<S>>, own: &Option<TextList<S>>| {
        let steps = skill.steps.iter().flat_map(|steps| &steps.list).filter_map(|of| step(of).as_ref());
        own.iter().chain(steps).flat_map(|list| list.list.clone()).collect::<Vec<Word<S>>>()
    };
    let produced = decl.skills.iter().flat_map(|skill| of_skill(skill, |step| &step.produces, &skill.produces));
    let produced: BTreeSet<String> = produced.map(|kind| kind.text).collect();
    for skill in &decl.skills {
        let mut said: HashSet<String> = HashSet::new();
        for kind in of_skill(skill, |step| &step.consumes, &skill.consumes) {
            if produced.contains(&kind.text) || !said.insert(kind.text.clone()) {
                continue;
            }
            let finding = Finding::new(
                Code::ArtifactKindUnsatisfied,
                kind.at.clone(),
                format!("skill `{}` consumes `{}`, and nothing in the graph produces it", skill.ident.text, kind.text),
            );
            let finding = match closest(&kind.text, produced.iter().map(String::as_str)) {
                Some(near) => finding.help(format!("a kind with a similar name is produced: `{near}`")),
                None => finding.help(format!(
                    "add {} to the skill or step that makes it",
                    decl.form.list_field("produces", &[&kind.text])
                )),
            };
            let finding = match produced.len() {
                0 => finding.note("nothing in the graph produces anything"),
                _ => finding.note(format!("what is produced: {}", listed(produced.iter().map(String::as_str)))),
            }
            .note("only declarations are compared, not the order of skills; allow this where the artifact comes from outside");
            findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
        }
    }
}

/// A body with the words in it that could be names of tools.
pub(super) struct ReadBody<'a, S> {
    skill: &'a SkillDecl<S>,
    source: &'a Word<S>,
    prose: &'a Prose,
    words: Vec<Found<'a>>,
}

/// The bodies that stand in the declaration, each read once.
pub(super) fn bodies<S>(decl: &GraphDecl<S>) -> Vec<ReadBody<'_, S>> {
    let inline = decl.skills.iter().filter_map(|skill| match &skill.body {
        Some(Body::Inline { source, prose: Ok(prose) }) => {
            Some(ReadBody { skill, source, prose, words: words_of(&source.text) })
        }
        _ => None,
    });
    inline.collect()
}

/// A word of a body that could be the name of a tool.
#[derive(Clone, Copy)]
struct Found<'a> {
    at: usize,
    text: &'a str,
    /// It is written as code.
    is_code: bool,
}

impl Found<'_> {
    fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

/// The words of a body, which is Markdown, that could be names of tools: of its prose and of code inside a line. What stands in
/// blocks of code and in addresses is none of it, and what stands in `{…}` is a mention, checked as such.
fn words_of(body: &str) -> Vec<Found<'_>> {
    let mut words = Vec::new();
    // Inside of these a text is no prose.
    let mut apart = 0usize;
    for (event, range) in pulldown_cmark::Parser::new(body).into_offset_iter() {
        let is_apart = |tag: &Tag<'_>| {
            matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock)
                || matches!(tag, Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. })
        };
        match event {
            MarkdownEvent::Start(tag) if apart > 0 || is_apart(&tag) => apart += 1,
            MarkdownEvent::End(_) if apart > 0 => apart -= 1,
            MarkdownEvent::Text(_) if apart == 0 => push_words(body, range, false, &mut words),
            MarkdownEvent::Code(_) if apart == 0 => push_words(body, range, true, &mut words),
            _ => {}
        }
    }
    words
}

fn push_words<'a>(body: &'a str, part: Range<usize>, is_code: bool, words: &mut Vec<Found<'a>>) {
    let is_no_name = |c: char| !(c.is_alphanumeric() || c == '_');
    let Some(text) = body.get(part.clone()) else { return };
    let mut next = part.start;
    for piece in text.split_inclusive(char::is_whitespace) {
        let is_address = piece.contains("://") || piece.starts_with("www.");
        for word in piece.split_inclusive(is_no_name) {
            let at = next;
            next += word.len();
            let text = word.trim_end_matches(is_no_name);
            let rest = body.get(at + text.len()..).unwrap_or_default();
            let is_mention = rest.starts_with('}') && body.get(..at).is_some_and(|before| before.ends_with('{'));
            if !text.is_empty() && !is_mention && !is_address {
                // With a bracket behind it, a word is a call.
                words.push(Found { at, text, is_code: is_code || rest.starts_with('(') });
            }
        }
    }
}

/// Whether a word can be one of plain English: letters, with no capital behind the first.
fn is_plain(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && !word.chars().skip(1).any(char::is_uppercase)
}

/// Lower case, with an underscore inside: what a function is called, and no word of prose.
fn is_snake_case(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.contains('_')
}
