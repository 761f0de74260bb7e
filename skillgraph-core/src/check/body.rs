//! What a skill says: its description, its body, and the tools that the body mentions.

use super::facts::Facts;
use super::names::unknown_tool;
use crate::decl::{Body, Form, GovernorThen, GraphDecl, Word, scan_prose};
use crate::excerpt::excerpt;
use crate::finding::{Code, Finding};
use crate::suggest::counted;

/// A text of a skill is blank or missing.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for tool in decl.tools.iter().filter(|tool| tool.name.is_blank()) {
        findings.push(blank(&tool.name, "the name of a tool").help(match decl.form {
            Form::Language => format!("remove `= \"…\"` to call it `{}`", tool.ident.text),
            _ => "give it a name in the registry of tools".to_owned(),
        }));
    }
    if let Some(GovernorThen::Escalate(model)) = decl.governor.as_ref().map(|governor| &governor.then)
        && model.is_blank()
    {
        findings.push(blank(model, "the model's name").help("write the name under which the agent is given the model"));
    }
    for skill in &decl.skills {
        let name = &skill.ident.text;
        if skill.id.is_blank() {
            findings.push(blank(&skill.id, "the id of a skill").help(match skill.form {
                Form::Language => "remove `= \"…\"` to use the identifier".to_owned(),
                form => format!("write one: {}", form.id(name, "…")),
            }));
        }
        match &skill.description {
            None if skill.unread => {}
            None => findings.push(
                Finding::new(Code::EmptyText, skill.ident.at.clone(), format!("skill `{name}` has no description"))
                    .help("add `description: \"…\"` or a doc comment: the line that a model reads when it chooses"),
            ),
            Some(text) if text.is_blank() => findings.push(
                blank(text, &format!("the description of skill `{name}`"))
                    .help("say in one line when this skill is the right one"),
            ),
            Some(_) => {}
        }
        match &skill.body {
            None if skill.unread => {}
            None => findings.push(
                Finding::new(Code::EmptyText, skill.ident.at.clone(), format!("skill `{name}` has no body"))
                    .help("add `body: \"…\"`: the instructions that hold while this skill is open"),
            ),
            Some(Body::Inline { source, .. }) if source.is_blank() => findings.push(
                blank(source, &format!("the body of skill `{name}`"))
                    .help("write the instructions that hold while this skill is open"),
            ),
            Some(_) => {}
        }
    }
}

/// A body mentions a tool that the registry does not hold, or has a brace that mentions nothing.
pub(super) fn check_mentions<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, findings: &mut Vec<Finding<S>>) {
    for skill in &decl.skills {
        let Some(Body::Inline { source, prose }) = &skill.body else { continue };
        let scanned;
        let prose = match prose {
            Ok(prose) => prose,
            Err(_) => {
                let (prose, errors) = scan_prose(&source.text);
                // A body that is full of braces is one mistake.
                findings.extend(errors.first().map(|error| {
                    let message = format!("a single `{}` in the body of skill `{}`", error.brace, skill.ident.text);
                    let finding = Finding::new(Code::Syntax, source.at.clone(), message)
                        .help("write `{tool}` to mention a tool of this graph, and `{{` or `}}` for a brace")
                        .excerpt(excerpt("body", &source.text, error.at..error.at + 1));
                    match errors.len() - 1 {
                        0 => finding,
                        more => finding.note(format!("the body has {} of the kind", counted(more, "more brace"))),
                    }
                }));
                scanned = prose;
                &scanned
            }
        };
        for mention in prose.mentions().filter(|mention| facts.tool(&mention.tool).is_none()) {
            let name = Word::new(&mention.tool, source.at.clone());
            let finding = unknown_tool(decl, facts, &name);
            findings.push(finding.excerpt(excerpt("body", &source.text, mention.range.clone())));
        }
    }
}

/// What is said wherever a text says nothing.
pub(super) fn blank<S: Clone>(text: &Word<S>, what: &str) -> Finding<S> {
    Finding::new(Code::EmptyText, text.at.clone(), format!("{what} is blank"))
}
