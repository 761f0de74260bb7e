//! `catalog { policy: { field, … }, skill NAME = "key" { field, … } }`
// SPEC 11.

use proc_macro2::{Ident, Span};
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Disclosure, Finding, ModelTier, Reset, SkillPolicy};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitBool, Path, Token, token};

use super::skill::word_of;
use super::{attributes, docs, field, name, new_name, recover, refuse_lints, text};
use crate::ast::{Attributes, Catalog, CatalogSkill, Names};
use crate::findings::Findings;

const PARTS: [&str; 2] = ["policy", "skill"];
const POLICY_FIELDS: [&str; 7] = [
    "preset",
    "max_open_skills",
    "max_bound_tools_per_skill",
    "max_bound_tools_total",
    "model_tier",
    "disclosure",
    "reset",
];
const SKILL_FIELDS: [&str; 8] =
    ["title", "header", "prompt", "tools", "default_bind", "available", "min_model_tier", "needs_sandbox"];
/// What a bound of 0 would mean.
const NOTHING: &str = "nothing could ever be opened";
const TIERS: [(&str, ModelTier); 2] = [("small", ModelTier::Small), ("large", ModelTier::Large)];

pub(super) fn catalog(input: ParseStream<'_>, span: Span, findings: &mut Findings) -> syn::Result<Catalog> {
    let mut catalog = Catalog { span, policy: SkillPolicy::DEFAULT, skills: Vec::new() };
    let content;
    syn::braced!(content in input);
    recover::items(&content, findings, |input, findings| part(input, &mut catalog, findings));
    Ok(catalog)
}

fn part(input: ParseStream<'_>, catalog: &mut Catalog, findings: &mut Findings) -> syn::Result<()> {
    let attributes = attributes(input, "a part of a catalog", findings)?;
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected a part of the catalog: {}", listed(PARTS))));
    };
    let mut part = word.to_string();
    if !PARTS.contains(&part.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("a catalog has no `{part}`"));
        let Some(near) = closest(&part, PARTS) else {
            findings.push(finding.help(format!("it has {}", listed(PARTS))));
            input.call(Ident::parse_any)?;
            recover::skip_item(input);
            return Ok(());
        };
        findings.push(finding.help(format!("a part with a similar name exists: `{near}`")));
        part = near.to_owned();
    }
    input.call(Ident::parse_any)?;
    if part == "skill" {
        skill(input, attributes, catalog, findings)?;
    } else {
        refuse_lints(&attributes, word.span(), "a policy", findings);
        input.parse::<Token![:]>()?;
        if !input.peek(token::Brace) {
            return Err(input.error("expected `{` and the fields of the policy, as in `policy: { preset: small }`"));
        }
        let content;
        syn::braced!(content in input);
        recover::fields(&content, findings, |input, findings| policy_field(input, &mut catalog.policy, findings));
    }
    // After a block the comma may be left out.
    input.parse::<Option<Token![,]>>()?;
    Ok(())
}

fn policy_field(input: ParseStream<'_>, policy: &mut SkillPolicy, findings: &mut Findings) -> syn::Result<()> {
    let Some(name) = field::name(input, "a policy", &POLICY_FIELDS, findings)? else { return Ok(()) };
    match name.as_str() {
        "preset" => {
            let presets = [("default", SkillPolicy::DEFAULT), ("small", SkillPolicy::SMALL)];
            if let (Some(preset), _) = word_of(input, &presets, findings)? {
                *policy = preset;
            }
        }
        "max_open_skills" => policy.max_open_skills = field::count(input, NOTHING)?,
        "max_bound_tools_per_skill" => policy.max_bound_tools_per_skill = field::count(input, NOTHING)?,
        "max_bound_tools_total" => policy.max_bound_tools_total = field::count(input, NOTHING)?,
        "model_tier" => policy.model_tier = word_of(input, &TIERS, findings)?.0,
        "disclosure" => {
            let ways = [("catalog", Disclosure::Catalog), ("search", Disclosure::Search)];
            policy.disclosure = word_of(input, &ways, findings)?.0.unwrap_or_default();
        }
        _ => {
            let when = [("never", Reset::Never), ("turn", Reset::Turn)];
            policy.reset = word_of(input, &when, findings)?.0.unwrap_or_default();
        }
    }
    Ok(())
}

fn skill(
    input: ParseStream<'_>,
    attributes: Attributes,
    catalog: &mut Catalog,
    findings: &mut Findings,
) -> syn::Result<()> {
    let ident = new_name(input, "the name of a skill", findings)?;
    let mut skill = CatalogSkill {
        attributes,
        ident,
        key: None,
        title: None,
        header: None,
        prompt: None,
        tools: Vec::new(),
        default_bind: None,
        available: None,
        min_model_tier: None,
        needs_sandbox: false,
        broken: false,
    };
    let result = rest(input, &mut skill, findings);
    skill.broken |= result.is_err();
    catalog.skills.push(skill);
    result
}

fn rest(input: ParseStream<'_>, skill: &mut CatalogSkill, findings: &mut Findings) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        skill.key = Some(text(input, "the key of the skill")?);
    }
    if !input.peek(token::Brace) {
        return Err(input.error("expected `{` and the fields of the skill"));
    }
    let content;
    syn::braced!(content in input);
    let mut seen: Vec<String> = Vec::new();
    let read = recover::fields(&content, findings, |input, findings| skill_field(input, skill, &mut seen, findings));
    skill.broken |= !read;
    Ok(())
}

fn skill_field(
    input: ParseStream<'_>,
    skill: &mut CatalogSkill,
    seen: &mut Vec<String>,
    findings: &mut Findings,
) -> syn::Result<()> {
    docs(input, "a field", findings)?;
    let at = input.span();
    let Some(field) = field::name(input, "a skill of a catalog", &SKILL_FIELDS, findings)? else {
        skill.broken = true;
        return Ok(());
    };
    field::note_twice(seen, &field, at, &skill.ident, findings);
    match field.as_str() {
        "title" => skill.title = Some(text(input, "the title")?),
        "header" => skill.header = Some(text(input, "the header")?),
        "prompt" => skill.prompt = Some(text(input, "the instructions")?),
        "tools" => {
            let list = recover::list(input, findings, |input, _| name(input, "a tool of this graph"))?;
            skill.broken |= list.broken;
            skill.tools = list.elements;
        }
        "default_bind" => {
            let list = recover::list(input, findings, |input, _| name(input, "a tool of this skill"))?;
            skill.default_bind = (!list.is_unread()).then_some(Names { span: list.span, list: list.elements });
        }
        "available" => {
            let path = Path::parse_mod_style(input);
            skill.available = Some(path.map_err(|error| {
                syn::Error::new(
                    error.span(),
                    "expected the path of an `async fn() -> bool`, as in `crate::jira::connected`",
                )
            })?);
        }
        "min_model_tier" => skill.min_model_tier = word_of(input, &TIERS, findings)?.0,
        _ => {
            if !input.peek(LitBool) {
                return Err(input.error("expected `true` or `false`"));
            }
            skill.needs_sandbox = input.parse::<LitBool>()?.value;
        }
    }
    Ok(())
}
