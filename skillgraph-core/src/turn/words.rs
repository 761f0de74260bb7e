//! Every sentence that the turn machine says to a model, in one place. Refusals name what is allowed.
// SPEC 5.4.

use super::message::Spoken;
use super::settle::Ending;
use super::start::{Menu, reachable};
use super::state::State;
pub(super) use super::voice::FRAMEWORK;
use super::voice::without_mark;
use super::{CatalogRefusal, PickRefusal, Procedure, Setup, SkipRefusal, Trip};
use crate::catalog::{Binding, Catalog, CatalogEntry, Disclosure, NotBound, Opened, Opening, SkillPolicy, header_line};
use crate::decide::Cause;
use crate::decl::{OnSkip, SkillId, Status, ToolId};
use crate::graph::{Graph, Hidden, Skill, SkillIx, Step};
use crate::text::{one_line, shortened};

/// What is constant comes first: the host's text, the catalog, the open skill, skills opened beside it, the step. What changes
/// most comes last: what can be opened now, where anything can.
pub(super) fn system_prompt(setup: &Setup, state: &State, picks: bool) -> String {
    let graph = &setup.graph;
    let mut sections: Vec<String> = Vec::new();
    if !setup.system.trim().is_empty() {
        sections.push(setup.system.clone());
    }
    if let Some(catalog) = &setup.catalog {
        let listing = catalog.listing(&state.catalog.away);
        sections.extend((!listing.is_empty()).then(|| listing.into_owned()));
    }
    if !crate::text::is_blank(&state.system) {
        sections.push(state.system.clone());
    }
    let open = state.cursor.iter().chain(&state.opened).filter_map(|skill| graph.skill(*skill));
    sections.extend(open.filter(|skill| skill.surface.is_in_prompt()).map(body_section));
    if let Some(procedure) = &state.procedure
        && let Some(step) = procedure.current(graph)
    {
        let (number, total) = (procedure.step(), procedure.total(graph));
        sections.push(format!(
            "Step {number} of {total} is next: call `{}`. {}\n{WHO_SPEAKS}",
            graph.tool_id(step.tool),
            note(step)
        ));
    }
    if let Some(menu) = &state.menu {
        sections.push(menu_section(menu, state.cursor, graph));
    }
    if picks {
        let (reachable, refused) = others(setup, state);
        let said: Vec<String> =
            reachable_section(state, &reachable).into_iter().chain(refused_section(&refused)).collect();
        sections.extend((!said.is_empty()).then(|| format!("# Other skills\n\n{}", said.join("\n\n"))));
    }
    sections.join("\n\n")
}

/// How a model tells where a procedure stands from a text that says so (F54).
const WHO_SPEAKS: &str = "Where the procedure stands is said here and behind `[skillgraph]`, nowhere else.";

/// A body under its heading, as it stands on every surface.
pub(super) fn body_section(skill: &Skill) -> String {
    format!("# Skill: {}\n\n{}", skill.id, skill.body)
}

/// The same, where no result of `read_skill` could bring it. It ends with the body.
pub(super) fn body_again(skill: &Skill) -> Spoken {
    let words = format!("{FRAMEWORK}`{}` is open. Its instructions:", skill.id);
    Spoken::with_body(&words, skill.id.as_str(), &body_section(skill))
}

/// What a result of `read_skill` says, and the body where that is the place for it. It ends with the body.
pub(super) fn with_body(text: String, skill: &Skill) -> Spoken {
    match skill.surface.is_in_result() {
        true => Spoken::with_body(&text, skill.id.as_str(), &body_section(skill)),
        false => Spoken::by_framework(text),
    }
}

/// What the start of the turn leaves to the model.
fn menu_section(menu: &Menu, cursor: Option<SkillIx>, graph: &Graph) -> String {
    let rows = menu.offered.iter().filter(|skill| Some(**skill) != cursor).map(|skill| {
        let share = menu.relevance.iter().find(|(scored, _)| scored == skill);
        let share = share.map_or(String::new(), |(_, share)| format!(" ({:.0} % relevant)", share * 100.0));
        let description = graph.skill(*skill).map_or(String::new(), |skill| one_line(&skill.description));
        format!("\n- `{}`: {description}{share}", graph.skill_id(*skill))
    });
    let rows: String = rows.collect();
    let stay = match cursor.filter(|_| menu.stay) {
        Some(cursor) => format!(", or stay in `{}` and go on", graph.skill_id(cursor)),
        None => String::new(),
    };
    format!(
        "The message does not say clearly which of these it is about:{rows}\n\nOpen the one that fits with `read_skill`{stay}."
    )
}

/// What the current step's tool says before its own description.
pub(super) fn step_banner(procedure: &Procedure, step: &Step, graph: &Graph) -> String {
    format!("[Step {} of {}: {}]", procedure.step(), procedure.total(graph), note(step))
}

/// `read_skill`. Constant, so that a provider's cache of the tools holds: what can be opened now stands in the system prompt.
pub(super) const READ_SKILL_DESCRIPTION: &str = "Opens a skill: its instructions and tools are there from your next message on. \
    Which skills can be opened now stands at the end of the system prompt.";

/// How many characters the descriptions of a menu may have together; where they have more, each is cut to its share.
const MENU_TEXT: usize = 12_000;
/// How many characters of a description are kept at the least.
const LEAST_TEXT: usize = 40;
/// How many skills that would be refused are named.
const MOST_REFUSED: usize = 100;

/// What `read_skill` opens now, but for what the start of the turn has named.
fn reachable_section(state: &State, reachable: &[Placed<'_>]) -> Option<String> {
    let named = state.menu.as_ref().map_or(&[][..], |menu| &menu.offered);
    let skills: Vec<&Skill> = reachable.iter().filter(|(at, _)| !named.contains(at)).map(|(_, skill)| *skill).collect();
    if skills.is_empty() {
        let none = "No other skill can be opened from here: go on with the one you are in, or answer.";
        let none = if state.cursor.is_some() { none } else { "No skill can be opened from here: answer." };
        return named.is_empty().then(|| none.to_owned());
    }
    let total: usize = skills.iter().map(|skill| skill.description.chars().count()).sum();
    let share = if total > MENU_TEXT { (MENU_TEXT / skills.len()).max(LEAST_TEXT) } else { usize::MAX };
    let rows: String = skills
        .iter()
        .map(|skill| format!("\n- `{}`: {}", skill.id, shortened(&one_line(&skill.description), share)))
        .collect();
    let whole = if share == usize::MAX { "" } else { " (`list_skills` gives the whole of what they are for)" };
    Some(format!("`read_skill` opens from here{whole}:{rows}"))
}

/// What it refuses now.
fn refused_section(refused: &[Placed<'_>]) -> Option<String> {
    let more = refused.len().saturating_sub(MOST_REFUSED);
    let named = joined(refused.iter().take(MOST_REFUSED).map(|(_, skill)| skill.id.as_str()));
    let more = if more == 0 { String::new() } else { format!(" and {more} more, which `list_skills` names") };
    (!refused.is_empty()).then(|| format!("Not reachable from here, and refused by `read_skill`: {named}{more}."))
}

/// A skill, and where it stands in its graph.
type Placed<'a> = (SkillIx, &'a Skill);

/// The skills that can be seen and are not open: those of which a pick would be admitted, and the rest.
fn others<'a>(setup: &'a Setup, state: &'a State) -> (Vec<Placed<'a>>, Vec<Placed<'a>>) {
    let reachable: std::collections::HashSet<SkillIx> = reachable(setup, state).into_iter().collect();
    let is_here = |skill: SkillIx| Some(skill) == state.cursor || state.opened.contains(&skill);
    let visible = setup.graph.visible(&state.hidden);
    visible.filter(|(at, _)| !is_here(*at)).partition(|(at, _)| reachable.contains(at))
}

/// `list_skills`.
pub(super) const LIST_SKILLS_DESCRIPTION: &str = "Lists every skill with what it is for.";

/// `skip_step`: what it skips, and what becomes of the step.
pub(super) fn skip_step_description(procedure: &Procedure, graph: &Graph) -> String {
    let policy = match procedure.on_skip(graph) {
        OnSkip::Advance => "The procedure goes on to the next step.",
        OnSkip::Hold => "The reason is recorded and the step stays the current one.",
    };
    format!("Says why step {} of {} is not needed. {policy}", procedure.step(), procedure.total(graph))
}

/// `open_skill`.
pub(super) fn open_skill_description(policy: &SkillPolicy) -> String {
    let keys = match policy.disclosure {
        Disclosure::Catalog => "as it stands in <available_skills>",
        Disclosure::Search => "as `search_skills` gives it",
    };
    format!(
        "Opens a skill by its key, {keys}: its instructions come back, and its tools can be called from your next message on. \
         Open at the same time: {} at the most.",
        policy.max_open_skills
    )
}

/// `bind_skill_tools`.
pub(super) fn bind_tools_description(policy: &SkillPolicy) -> String {
    format!(
        "Makes tools of an open skill callable from your next message on, by name. At the most {} of one skill and {} in all.",
        policy.max_bound_tools_per_skill, policy.max_bound_tools_total
    )
}

/// `search_skills`.
pub(super) const SEARCH_SKILLS_DESCRIPTION: &str =
    "Finds skills by what is to be done. `open_skill` opens one by the key that stands there.";

/// Where a setup has no catalog any more.
pub(super) const NO_CATALOG: &str = "There are no skills to open any more.";

/// A skill of the catalog that opened, for the model. It ends with the instructions.
pub(super) fn catalog_opened(entry: &CatalogEntry, prompt: &str, opening: &Opening, policy: &SkillPolicy) -> Spoken {
    let key = &entry.key;
    let already = if opening.already_open { " already" } else { "" };
    let mut text = format!("`{key}` is open{already}.");
    if entry.needs_sandbox {
        text.push_str(" It needs a sandbox.");
    }
    text.push_str(&bound(&opening.binding));
    if let Some(index) = &opening.index {
        let rows = index.iter().map(|tool| {
            let description = tool.description.as_deref().map_or(String::new(), |text| format!(": {}", one_line(text)));
            format!("\n- {}{description}", tool.name)
        });
        let rows: String = rows.collect();
        let cut = entry.tools.len().saturating_sub(index.len());
        let cut = match cut {
            0 => String::new(),
            _ => format!("\n({cut} more are not shown: open `{key}` again with a `query` that says what you need.)"),
        };
        text.push_str(&format!(
            "\nIt has {} tools, of which {} can be bound. Bind those that you need with `bind_skill_tools`:{rows}{cut}",
            entry.tools.len(),
            policy.max_bound_tools_per_skill
        ));
    }
    if crate::text::is_blank(prompt) {
        return Spoken::by_framework(text);
    }
    text.push_str("\n\nIts instructions:");
    Spoken::with_body(&text, key, prompt)
}

/// A skill of the catalog that opened by itself.
pub(super) fn preopened(mut opened: Spoken) -> Spoken {
    opened.text.insert_str(0, FRAMEWORK);
    if let Some(body) = opened.aside.as_mut().and_then(|aside| aside.body.as_mut()) {
        body.from += FRAMEWORK.len();
    }
    opened
}

/// Tools that were bound, and not.
pub(super) fn tools_bound(key: &str, binding: &Binding) -> String {
    let text = bound(binding);
    if text.is_empty() { format!("Nothing more of `{key}` was bound.") } else { text.trim_start().to_owned() }
}

fn bound(binding: &Binding) -> String {
    let mut text = String::new();
    if !binding.bound.is_empty() {
        let names = joined(binding.bound.iter().map(String::as_str));
        text.push_str(&format!("\nFrom your next message on you can call {names}."));
    }
    for NotBound { tool, reason } in &binding.not_bound {
        text.push_str(&format!("\n`{}` is not bound by this: {reason}.", one_line(tool)));
    }
    text
}

/// A skill of the catalog that did not open, or of which no tool can be bound.
pub(super) fn catalog_refused(key: &str, reason: &CatalogRefusal, catalog: &Catalog, opened: &Opened) -> String {
    let open = || joined(opened.skills());
    match reason {
        // The three read the same, and the key is not said back.
        CatalogRefusal::Unknown | CatalogRefusal::NotForTier | CatalogRefusal::Unavailable => {
            let keys = match catalog.policy().disclosure {
                Disclosure::Catalog => "The keys stand in <available_skills>.",
                Disclosure::Search => "`search_skills` gives keys.",
            };
            format!("There is no skill with that key. {keys}")
        }
        CatalogRefusal::TooManyOpen => match opened.skills().len() {
            0 => "No skill can be opened here.".to_owned(),
            count => format!(
                "`{key}` was not opened: {count} may be open at the same time, and {} are. Work with what is open.",
                open()
            ),
        },
        CatalogRefusal::NoToolsLeft => match opened.skills().len() {
            0 => "No skill can be opened here.".to_owned(),
            _ => format!(
                "`{key}` was not opened: as many tools are bound as may be. Work with what is open: {}.",
                open()
            ),
        },
        CatalogRefusal::NotOpen => format!("`{key}` is not open: open it with `open_skill` before you bind its tools."),
        CatalogRefusal::Failed { .. } => {
            format!("`{key}` could not be opened now. Try again later, or go on without it.")
        }
    }
}

/// What a search found.
pub(super) fn search_results(hits: &[&CatalogEntry], found: bool, opened: &Opened) -> String {
    if hits.is_empty() {
        return "No skill is there.".to_owned();
    }
    let rows = hits.iter().map(|entry| {
        let open = if opened.is_open(&entry.key) { " (open already)" } else { "" };
        format!("\n- {}{open}", header_line(entry))
    });
    let rows: String = rows.collect();
    let first = if found { "Best first:" } else { "Nothing fits these words. Some of the skills that there are:" };
    format!("{first}{rows}\n\nOpen one with `open_skill`.")
}

/// A call of a tool that another call of the same message has bound.
pub(super) fn bound_in_this_message(name: &str) -> String {
    format!("`{name}` was not run: it is bound by this very message, and can be called from your next one on.")
}

/// A call of a tool that an open skill has, and that is not bound.
pub(super) fn not_bound(name: &str, key: &str) -> String {
    format!("`{name}` is not bound: bind it with `bind_skill_tools`, as a tool of `{key}`, and call it then.")
}

/// The names of an offer, as a refusal says them; empty where nothing is offered.
pub(super) fn offered_names(offered: &[ToolId]) -> String {
    joined(offered.iter().map(ToolId::as_str))
}

/// A call of a tool that was not in the request, which had those names.
pub(super) fn not_offered(name: &str, offered: &str) -> String {
    let name = short(name);
    if offered.is_empty() {
        return format!("`{name}` is not available here, and no other tool is. Answer without one.");
    }
    format!("`{name}` is not available here. Available now: {offered}.")
}

/// A call behind as many others as one message may make.
pub(super) fn too_many_calls(name: &str, most: usize) -> String {
    format!(
        "`{}` was not run: a message makes {most} calls at the most. Make the others in your next one.",
        short(name)
    )
}

/// A name that a model made up, no longer than a tool's can be.
fn short(name: &str) -> &str {
    name.char_indices().nth(64).map_or(name, |(end, _)| name.get(..end).unwrap_or_default())
}

/// Arguments that cannot be read.
pub(super) fn bad_arguments(name: &str, reason: impl std::fmt::Display) -> String {
    format!("`{name}` was not run: {reason}.")
}

/// A call that the token limit cut off.
pub(super) fn cut_off(name: &str) -> String {
    format!(
        "`{name}` was not run: your message ended at the token limit inside this call. Send the call again, shorter."
    )
}

/// A call beside a refusal.
pub(super) fn declined(name: &str) -> String {
    format!("`{name}` was not run: you declined in the same message.")
}

/// A call that nobody waits for any more.
pub(super) fn interrupted(name: &str) -> String {
    format!("`{name}` was interrupted before it returned. Whether it had an effect is not known.")
}

/// A call that is not permitted.
pub(super) fn denied(name: &str, reason: &str) -> String {
    format!("`{name}` was not run: it is not permitted ({}).", one_line(reason))
}

/// A call to which a person said no.
pub(super) fn denied_by_person(name: &str, reason: &str) -> String {
    format!("`{name}` was not run: a person was asked and said no ({}).", one_line(&without_mark(reason)))
}

/// A call whose question stays open.
pub(super) fn postponed(name: &str, question: &str) -> String {
    format!("`{name}` has not run: it waits for a person, who was asked: {}", one_line(&without_mark(question)))
}

/// A call whose question nobody answered before the conversation went on.
pub(super) fn unanswered(name: &str) -> String {
    format!("`{name}` has not run: a person was asked, and the conversation went on without an answer.")
}

/// What stood where a skill was named that may not be seen any more.
pub(super) const WITHDRAWN: &str = "This is not available any more.";

/// What stands behind the part of a result that is shown.
pub(super) fn cut_result(missing: usize, shown: usize) -> String {
    format!("The result is longer than is shown: {missing} characters are missing after the first {shown}.")
}

/// What stands behind the result of a call whose arguments a person changed.
pub(super) fn changed_by_person(arguments: &serde_json::Map<String, serde_json::Value>) -> String {
    let arguments = serde_json::to_string(arguments).unwrap_or_default();
    format!("A person changed the arguments of this call before they approved it. It ran with {arguments}.")
}

/// What a person is asked about a call whose tool asks, and does not say what.
pub(super) fn may_it_run(name: &str, arguments: &serde_json::Map<String, serde_json::Value>) -> String {
    let arguments = serde_json::to_string(arguments).unwrap_or_default();
    format!("Run `{name}` with {arguments}?")
}

/// What the model is told after a reply without words and calls.
pub(super) fn blank_reply() -> String {
    format!("{FRAMEWORK}Your last reply was empty. Answer the user, or say why you cannot.")
}

/// A refused pick.
pub(super) fn pick_refused(
    requested: &str,
    reason: PickRefusal,
    cursor: Option<&SkillId>,
    allowed: &[SkillId],
) -> String {
    let fact = match reason {
        // The two read the same, and the id is not said back.
        PickRefusal::UnknownId | PickRefusal::Hidden => "There is no skill with that id.".to_owned(),
        PickRefusal::Tree => format!("`{requested}` is not for you to pick: the user's message has opened the skill."),
        PickRefusal::OffMenu => {
            format!("`{requested}` is not for you to pick now: a skill opens by what tools return.")
        }
        PickRefusal::Rails => format!("`{requested}` is not for you to pick: skills open by what tools return."),
        PickRefusal::Gated => {
            format!("`{requested}` is not for you to pick: it opens by what a tool returns.")
        }
        PickRefusal::AlreadyHere => format!("`{requested}` is open already: its instructions and tools are in place."),
        PickRefusal::NotReachable => match cursor {
            Some(cursor) => format!("`{requested}` is not reachable from `{cursor}`."),
            None => format!("`{requested}` is not reachable from here."),
        },
    };
    let way_on = match (allowed, reason) {
        ([], PickRefusal::AlreadyHere) => "Go on with it.".to_owned(),
        ([], _) => match cursor {
            Some(cursor) => format!("No skill is reachable from here: go on with `{cursor}`, or answer."),
            None => "No skill is reachable: answer without one.".to_owned(),
        },
        (_, PickRefusal::AlreadyHere) => format!("Go on with it; from here you can also open {}.", listed(allowed)),
        _ => format!("From here you can open {}, or finish where you are.", listed(allowed)),
    };
    format!("{fact} {way_on}")
}

/// A pick that moved the cursor.
pub(super) fn pick_opened(skill: &Skill, procedure: Option<&Procedure>, graph: &Graph) -> Spoken {
    let mut text = format!("`{}` is open: its instructions and tools are in place.", skill.id);
    if let Some(procedure) = procedure
        && let Some(step) = procedure.current(graph)
    {
        let (number, total) = (procedure.step(), procedure.total(graph));
        text.push_str(&format!(" Step {number} of {total}: `{}`. {}", graph.tool_id(step.tool), note(step)));
    }
    with_body(text, skill)
}

/// A pick that opened a skill beside the cursor.
pub(super) fn pick_opened_beside(skill: &Skill) -> Spoken {
    with_body(format!("`{}` is open for the rest of this turn, beside the skill you are in.", skill.id), skill)
}

/// A pick that could have been, and was not.
pub(super) fn pick_superseded(id: &SkillId, won: Option<&SkillId>, by: Cause) -> String {
    let Some(won) = won else { return format!("`{id}` was not opened.") };
    let reason = match by {
        Cause::Route => "a tool result moved the conversation",
        Cause::ToolProposal => "a tool moved the conversation",
        _ => "another pick of the same message came first, which moved the conversation",
    };
    format!("`{id}` was not opened: {reason} to `{won}`.")
}

/// A pick in the turn's last batch.
pub(super) fn pick_as_the_turn_ended(id: &SkillId, ending: Ending) -> String {
    let why = match ending {
        Ending::Cap => "at its limit of model calls",
        Ending::Stopped => "because it was going in circles",
        Ending::Declined => "because you declined in the same message",
        Ending::Cancelled => "because it was cancelled",
    };
    format!("`{id}` was picked, and the turn ended with that: {why}.")
}

/// The catalog, as `list_skills` returns it.
pub(super) fn skill_list(graph: &Graph, hidden: &Hidden) -> String {
    // A type, and no JSON object: the order of its fields hangs on nobody's features.
    #[derive(serde::Serialize)]
    struct Row<'a> {
        id: &'a SkillId,
        description: &'a str,
    }
    let skills = graph.visible(hidden);
    let rows: Vec<Row<'_>> = skills.map(|(_, skill)| Row { id: &skill.id, description: &skill.description }).collect();
    // Texts alone: it always serialises.
    serde_json::to_string(&rows).unwrap_or_default()
}

/// `skip_step` without a reason.
pub(super) const SKIP_NEEDS_REASON: &str = "The step was not skipped: say why it is not needed, in `reason`.";

/// A second change of the pointer in one batch.
pub(super) const SKIP_ONE_A_MESSAGE: &str = "The step was not skipped: the procedure moves one step a message.";

/// A step that was not skipped.
pub(super) fn skip_refused(why: SkipRefusal) -> &'static str {
    match why {
        SkipRefusal::NoReason => SKIP_NEEDS_REASON,
        SkipRefusal::StepCalled => "The step was not skipped: you called its tool in the same message.",
        SkipRefusal::SkippedAlready => SKIP_ONE_A_MESSAGE,
    }
}

/// A call of the tool of a step that the same message has skipped.
pub(super) fn step_is_skipped(name: &str) -> String {
    format!("`{name}` was not run: you skipped its step in the same message.")
}

/// `skip_step` that held.
pub(super) fn skip_held(procedure: &Procedure, step: &Step, graph: &Graph) -> String {
    format!(
        "The reason is recorded. Step {} of {} stays the current one: `{}`. {}",
        procedure.step(),
        procedure.total(graph),
        graph.tool_id(step.tool),
        note(step)
    )
}

/// Where the procedure stands, at the end of a result of one of its tools.
// SPEC 7.
pub(super) fn standing(procedure: &Procedure, graph: &Graph) -> String {
    let total = procedure.total(graph);
    let Some(step) = procedure.current(graph) else {
        let skipped = match procedure.skipped() {
            0 => String::new(),
            skipped => format!(", {skipped} of them skipped"),
        };
        return format!("All {total} steps are behind{skipped}.");
    };
    format!("Step {} of {total} is next: `{}`. {}", procedure.step(), graph.tool_id(step.tool), note(step))
}

/// The same, after a call of the step's tool that did not take it.
pub(super) fn standing_still(procedure: &Procedure, step: usize, status: Status, graph: &Graph) -> String {
    format!("Step {step} of {} is still open: this call came back as {status}.", procedure.total(graph))
}

/// The same, after a call of the step's tool beside the one that took it.
pub(super) fn taken_already(procedure: &Procedure, step: usize, graph: &Graph) -> String {
    format!("Step {step} of {} was taken by another call of the same message.", procedure.total(graph))
}

/// The reminder after an answer with steps left: once a turn, and in the past tense, so that it is no standing order.
pub(super) fn nudge(procedure: &Procedure, graph: &Graph) -> String {
    let steps: Vec<String> = procedure
        .remaining(graph)
        .map(|(number, step)| format!("step {number} (`{}`: {})", graph.tool_id(step.tool), note(step)))
        .collect();
    format!(
        "{FRAMEWORK}The answer came before the procedure was finished. Not done at that point: {}. \
         If one of these could not be done, the answer was to say why.",
        steps.join(", ")
    )
}

/// What the governor says of a run that spins: what happened, and the way out.
pub(super) fn spinning(trips: &[Trip]) -> String {
    let seen: Vec<String> = trips
        .iter()
        .map(|trip| match trip {
            Trip::PingPong { skill, other, moves } => {
                format!("the conversation went to and fro between `{other}` and `{skill}`, {moves} moves in a row")
            }
            Trip::Cycle { skills, rounds } => {
                format!("the conversation went round {} {rounds} times", listed(skills))
            }
            Trip::RepeatedCalls { tools, count } => {
                let tools = joined(tools.iter().map(String::as_str));
                format!("the same calls of {tools} were made {count} times in a row")
            }
            Trip::Refusals { count } => format!("{count} picks were refused in a row"),
            Trip::Repeats { tool, count } => {
                format!("`{tool}` was called {count} times in a row with the same arguments")
            }
        })
        .collect();
    format!("{FRAMEWORK}{}. It did not help: try another way, or answer with what there is.", seen.join("; "))
}

/// Why a step comes now, as it stands in a sentence or between square brackets: neither a line break nor a bracket of its own
/// ends them.
// SPEC 7.
fn note(step: &Step) -> String {
    one_line(&step.note).replace('[', "(").replace(']', ")")
}

fn listed(ids: &[SkillId]) -> String {
    joined(ids.iter().map(SkillId::as_str))
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
