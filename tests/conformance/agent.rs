//! `agent.json`: whole conversations, call by call: where the cursor is, what is offered, what each call comes to.
//!
//! Each conversation is run a second time with the turn saved and restored before every output: it must be the same.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};
use skillgraph::core::graph::Graph;
use skillgraph::core::turn::{
    Carried, Check, Choice, Decision, Input, Limits, Output, Permissions, Proposal, SavedTurn, Setup, Target,
    ToolReturn, ToolRun, Turn, UnfinishedAction,
};
use skillgraph::{
    Cause, Event, Message, ModelReply, ModelRequest, Outcome, PickRefusal, ProposalRefusal, SkillId, Status,
    Strictness, ToolCall, Transcript,
};

use crate::common;
use crate::translate::{Untranslated, list, tool_name, translate};
use crate::{Difference, Seen};

pub fn compare(case: &Value) -> Vec<Seen<'_>> {
    let whole = |difference| vec![Seen { case, step: None, difference }];
    let scene = match Scene::of(case) {
        Ok(scene) => scene,
        Err(difference) => return whole(difference),
    };
    let straight = scene.play(false);
    assert_eq!(straight, scene.play(true), "{}: saved and restored, it ends otherwise", case["id"]);
    let runs = list(&case["expect"], "runs").iter().zip(&straight);
    let mut seen = Vec::new();
    for (expected, played) in runs {
        let differences = scene.differences(expected, played);
        let diverged = differences.iter().any(|difference| difference.field == "cursor");
        seen.extend(differences.into_iter().map(|difference| Seen { case, step: Some(expected), difference }));
        if diverged {
            break;
        }
    }
    seen
}

/// A case, ready to be run.
struct Scene<'a> {
    case: &'a Value,
    setup: Arc<Setup>,
    /// Tools that no skill has and edges wait for: offered everywhere here, so that the graph can work at all.
    lent: BTreeSet<String>,
}

/// What one turn came to.
#[derive(Debug, Default, PartialEq)]
struct Played {
    iterations: Vec<Iteration>,
    /// For each call, by its id, what became of it.
    results: Vec<(String, String)>,
    events: Vec<Event>,
    deciders: Vec<BTreeSet<String>>,
    answer: String,
    cursor: Option<SkillId>,
    transcript: Transcript,
}

/// What one model call saw.
#[derive(Debug, PartialEq)]
struct Iteration {
    cursor: String,
    /// The skill that the cursor is on, and those opened beside it.
    open: Vec<String>,
    tools: BTreeSet<String>,
    bodies: BTreeSet<String>,
    reachable: BTreeSet<String>,
    menu: BTreeSet<String>,
    step: String,
}

impl<'a> Scene<'a> {
    fn of(case: &'a Value) -> Result<Self, Difference> {
        if case.get("graph").is_none() {
            return Err(Difference::new("construct", "", "no graph"));
        }
        let results = case["tool_results"].as_object().into_iter().flat_map(|tools| tools.values());
        if results
            .flat_map(|results| results.as_array().into_iter().flatten())
            .any(|result| result.get("require").is_some())
        {
            return Err(Difference::new("construct", "", "lease"));
        }
        let mut graph = case["graph"].clone();
        let beside = list(case, "skills").to_vec();
        if let Some(skills) = graph["skills"].as_array_mut() {
            skills.extend(beside);
        }
        let own = list(&case["agent"], "tools").iter().filter_map(|tool| tool.as_str().map(str::to_owned));
        let mut translated = match translate(&graph, &own.collect::<Vec<_>>()) {
            Err(Untranslated::Construct(construct)) => return Err(Difference::new("construct", "", construct)),
            Err(Untranslated::Malformed(error)) => return Err(Difference::new("malformed", "", error)),
            Ok(translated) => translated,
        };
        let mount = &case["agent"]["mount"];
        if let Some(escalation) = mount.get("escalation") {
            // Nothing else trips.
            let governor = json!({
                "refusals": escalation["after_refusals"], "ping_pong": 1000, "repeats": 1000,
                "then": { "escalate": escalation["model"] },
            });
            translated.spec.governor = serde_json::from_value(governor).expect("a governor");
        }
        let (decl, closures) = translated.declaration();
        let graph =
            Graph::from_declaration(decl, closures).map_err(|error| Difference::new("refused", "false", error))?;
        let strictness = match mount["strictness"].as_str() {
            Some("guard") => Strictness::Guard,
            Some("rails") => Strictness::Rails,
            _ => Strictness::Assist,
        };
        let limits =
            Limits { iterations: case["agent"]["max_iterations"].as_u64().unwrap_or(8) as u32, ..Limits::default() };
        let setup = Setup {
            limits,
            strictness,
            decider: mount["decider"] == true,
            permissions: case["agent"].get("permissions").is_some().then(Permissions::default),
            catalog: None,
            ..common::setup(Arc::new(graph))
        };
        let skills = list(case, "skills").iter().chain(list(&case["graph"], "skills"));
        let owned: Vec<String> = skills.flat_map(|skill| list(skill, "tools")).map(tool_name).collect();
        let waited = list(&case["graph"], "routes").iter().filter_map(|route| route["on_tool_return"].as_str());
        let lent = waited.filter(|tool| !owned.iter().any(|own| own == tool)).map(str::to_owned).collect();
        Ok(Self { case, setup: Arc::new(setup), lent })
    }

    fn play(&self, stored: bool) -> Vec<Played> {
        let mut returns: BTreeMap<String, usize> = BTreeMap::new();
        let keeps_cursor = self.case["agent"]["mount"]["continuity"] == "conversation";
        let mut runs: Vec<Played> = Vec::new();
        for run in list(self.case, "runs") {
            let last = runs.last().filter(|_| run["continue"] == true);
            let history = last.map_or_else(Transcript::new, |last| last.transcript.clone());
            let carried = last.and_then(|last| last.cursor.as_ref().map(ToString::to_string));
            let carried = run["restore_cursor"].as_str().map(str::to_owned).or(carried).filter(|_| keeps_cursor);
            let message = run["message"].as_str().unwrap_or_default();
            let turn = {
                let cursor = carried.as_deref().map(SkillId::from);
                let before = Carried { transcript: history, cursor, ..Carried::default() };
                Turn::start_from(self.setup.clone(), before, message)
            };
            let player = Player { scene: self, stored, turn, returns: &mut returns, played: Played::default() };
            runs.push(player.play(run));
        }
        runs
    }

    fn differences(&self, expected: &Value, played: &Played) -> Vec<Difference> {
        let mut differences = Vec::new();
        let mut compare = |field, expected: String, ours: String| {
            if expected != ours {
                differences.push(Difference::new(field, expected, ours));
            }
        };
        let iterations = list(expected, "iterations");
        for (expected, ours) in iterations.iter().zip(&played.iterations) {
            compare("cursor", theirs::cursor(expected), ours.cursor.clone());
            if theirs::cursor(expected) != ours.cursor {
                return differences;
            }
            let open: Vec<&str> = ours.open.iter().map(String::as_str).collect();
            let (elsewhere, here) = self.split_tools(&theirs::tools(expected), &open);
            let ours_tools = ours.tools.iter().filter(|tool| !self.lent.contains(*tool)).cloned().collect();
            compare("tools", join(&here), join(&ours_tools));
            compare("tools of closed skills", join(&elsewhere), String::new());
            compare("bodies", join(&theirs::bodies(expected)), join(&ours.bodies));
            compare("reachable", join(&theirs::reachable(expected, &open)), join(&ours.reachable));
            let current = open.first().copied().filter(|_| ours.cursor != "-");
            compare("menu", join(&theirs::menu(expected, current)), join(&ours.menu));
            compare("step", theirs::step(expected), ours.step.clone());
        }
        compare("iterations", iterations.len().to_string(), played.iterations.len().to_string());
        let results: Vec<String> = list(expected, "tool_results").iter().map(theirs::result).collect();
        let ours: Vec<String> = played.results.iter().map(|(call, kind)| format!("{call} {kind}")).collect();
        compare("results", results.join(", "), ours.join(", "));
        let events: Vec<String> = list(expected, "events").iter().filter_map(theirs::event).collect();
        let ours: Vec<String> = played.events.iter().filter_map(our_event).collect();
        compare("events", events.join(", "), ours.join(", "));
        let deciders: Vec<String> = list(expected, "decider_calls").iter().map(theirs::decider).collect();
        compare("deciders", deciders.join("; "), played.deciders.iter().map(join).collect::<Vec<_>>().join("; "));
        compare("answer", expected["answer"].as_str().unwrap_or_default().to_owned(), played.answer.clone());
        differences
    }

    /// The tools that belong only to skills that are not open here, and the others.
    fn split_tools(&self, tools: &BTreeSet<String>, open: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
        let graph = &self.setup.graph;
        let has = |skill: &skillgraph::core::graph::Skill, tool: &str| {
            skill.tools.iter().any(|own| graph.tool_id(*own) == *tool)
        };
        let constant = |tool: &str| graph.constant_tools().iter().any(|own| graph.tool_id(*own) == *tool);
        tools.iter().cloned().partition(|tool| {
            let mut owners = graph.skills().iter().filter(|skill| has(skill, tool)).peekable();
            owners.peek().is_some() && !constant(tool) && !owners.any(|owner| open.contains(&owner.id.as_str()))
        })
    }
}

/// Plays one turn.
struct Player<'a> {
    scene: &'a Scene<'a>,
    stored: bool,
    turn: Turn,
    /// How often each tool has returned in the whole case.
    returns: &'a mut BTreeMap<String, usize>,
    played: Played,
}

impl Player<'_> {
    fn play(mut self, run: &Value) -> Played {
        let mut replies: VecDeque<&Value> = list(run, "model").iter().collect();
        let mut picks: VecDeque<&Value> = list(run, "decider").iter().collect();
        let before = self.turn.transcript().len();
        loop {
            if self.stored {
                let saved = serde_json::to_string(&self.turn.save()).expect("a turn serialises");
                let saved: SavedTurn = serde_json::from_str(&saved).expect("a turn deserialises");
                self.turn = Turn::restore(self.scene.setup.clone(), saved).expect("the same graph");
            }
            while let Output::Authorize(checks) = self.turn.poll_output() {
                let decisions = checks.iter().map(|check| self.decide(check)).collect();
                self.tell(Input::Authorized(decisions));
            }
            self.played.events.extend(std::iter::from_fn(|| self.turn.poll_event()));
            match self.turn.poll_output() {
                Output::Decide(request) => {
                    let options = request.options.iter().map(|option| option.skill.to_string());
                    let stay = request.stay.iter().map(|_| "stay".to_owned());
                    self.played.deciders.push(options.chain(stay).chain(["none".to_owned()]).collect());
                    let choice = match picks.pop_front().and_then(|pick| pick["pick"].as_str()) {
                        None | Some("none") => Choice::None,
                        Some("stay") => Choice::Stay,
                        Some(id) => Choice::Skill(id.into()),
                    };
                    self.tell(Input::Decided(choice));
                }
                Output::CallModel(request) => {
                    self.see(&request);
                    let reply = replies.pop_front().map(reply);
                    self.tell(reply.map_or(Input::Cancel, Input::ModelReplied));
                }
                Output::RunTools(runs) => {
                    for run in &runs {
                        let returned = self.run_tool(run);
                        self.tell(Input::ToolReturned(returned));
                    }
                }
                Output::Done(outcome) => {
                    self.played.answer = match outcome {
                        Outcome::Answered { text } => text,
                        other => format!("({other:?})"),
                    };
                    self.played.cursor = self.turn.cursor();
                    self.played.transcript = self.turn.transcript().clone();
                    self.played.results = results(&self.played.transcript, before, &self.played.events);
                    return self.played;
                }
                other => panic!("an unknown output: {other:?}"),
            }
        }
    }

    fn tell(&mut self, input: Input) {
        self.turn.handle_input(input).expect("it is awaited");
    }

    fn decide(&self, check: &Check) -> Decision {
        let permissions = &self.scene.case["agent"]["permissions"];
        let among = |key: &str, name: &str| list(permissions, key).iter().any(|denied| denied == name);
        let denied = match &check.target {
            Target::Skill(skill) => among("hidden_skills", skill.as_str()),
            Target::Call { tool, .. } => among("denied_tools", tool.as_str()),
            other => panic!("an unknown target: {other:?}"),
        };
        if denied { Decision::denied("no") } else { Decision::Allowed }
    }

    fn see(&mut self, request: &ModelRequest) {
        let graph = &self.scene.setup.graph;
        let decided = self.played.events.iter().rev().find_map(|event| match event {
            Event::CursorDecided(decided) => Some(decided),
            _ => None,
        });
        let decided = decided.expect("a decision before every offer");
        let reachable = self.played.events.iter().rev().find_map(|event| match event {
            Event::Offered { reachable, .. } => Some(reachable.iter().map(ToString::to_string).collect()),
            _ => None,
        });
        let mut open: Vec<String> = decided.to.iter().map(ToString::to_string).collect();
        for event in &self.played.events {
            if let Event::SkillOpened { skill, .. } = event {
                open.push(skill.to_string());
            }
        }
        // A tree has no cursor to move: the leaf is what is open.
        let cursor = match &decided.to {
            Some(_) if graph.is_tree() => format!("- by {}", decided.by),
            Some(to) => format!("{to} by {}", decided.by),
            None => format!("- by {}", decided.by),
        };
        let own = ["list_skills", "host_tool"];
        let tools = request.tool_names().into_iter().filter(|name| !own.contains(name)).map(str::to_owned).collect();
        let bodies = graph.skills().iter().filter(|skill| request.system.contains(&format!("# Skill: {}\n", skill.id)));
        let rows = request.system.split("which of these it is about:").nth(1).unwrap_or_default();
        let rows = rows.split("\n\n# Other skills\n").next().unwrap_or_default();
        let menu = graph.skills().iter().filter(|skill| rows.contains(&format!("- `{}`:", skill.id)));
        let mut menu: BTreeSet<String> = menu.map(|skill| skill.id.to_string()).collect();
        if rows.contains(", or stay in `") {
            menu.insert("stay".to_owned());
        }
        let step = request.tools.iter().find_map(|tool| {
            let banner = tool.description.strip_prefix("[Step ")?.split(':').next()?;
            Some(format!("{banner} on {}", tool.name))
        });
        self.played.iterations.push(Iteration {
            cursor,
            open,
            tools,
            bodies: bodies.map(|skill| skill.id.to_string()).collect(),
            reachable: reachable.expect("an offer"),
            menu,
            step: step.unwrap_or_default(),
        });
    }

    fn run_tool(&mut self, run: &ToolRun) -> ToolReturn {
        let name = run.name.to_string();
        let times = self.returns.entry(name.clone()).or_default();
        let scripted = list(&self.scene.case["tool_results"], &name);
        let result = scripted.get(*times).or(scripted.last());
        *times += 1;
        let text = result.and_then(|result| result["content"].as_str()).map_or(format!("{name} ok"), str::to_owned);
        if let Some(error) = result.and_then(|result| result.get("raise")) {
            return ToolReturn::message(&run.call_id, Status::Failure, error.to_string());
        }
        let status = result.and_then(|result| result["status"].as_str()).and_then(Status::from_word);
        let value = serde_json::from_str::<Value>(&text).unwrap_or_else(|_| Value::String(text.clone()));
        let mut returned = ToolReturn::new(&run.call_id, status.unwrap_or(Status::Success), value);
        returned.text = text;
        returned.proposal = result.and_then(|result| result.get("propose")).map(|propose| Proposal {
            skill: propose["target"].as_str().unwrap_or_default().to_owned(),
            reason: propose["reason"].as_str().unwrap_or_default().to_owned(),
        });
        returned
    }
}

fn reply(reply: &Value) -> ModelReply {
    let calls: Vec<ToolCall> = list(reply, "calls")
        .iter()
        .map(|call| {
            let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
            ToolCall::new(text("id"), text("tool"), call["args"].to_string())
        })
        .collect();
    let text = reply["content"].as_str().unwrap_or_default();
    if calls.is_empty() { ModelReply::text(text) } else { ModelReply { text: text.into(), ..ModelReply::calls(calls) } }
}

/// What became of each call, in the words of the cases.
fn results(transcript: &Transcript, before: usize, events: &[Event]) -> Vec<(String, String)> {
    let results = transcript.iter().skip(before).filter_map(|message| match message {
        Message::ToolResults { results } => Some(results),
        _ => None,
    });
    let mut rejections: VecDeque<PickRefusal> = events
        .iter()
        .filter_map(|event| match event {
            Event::PickRejected { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect();
    let kind = |result: &skillgraph::core::turn::ToolMessage| {
        let refused = events.iter().find_map(|event| match event {
            Event::CallRefused { call_id, reason, .. } if *call_id == result.call_id => Some(*reason),
            _ => None,
        });
        if let Some(reason) = refused {
            return format!("{reason:?}");
        }
        let is_opened = result.text.contains("` is open: ") || result.text.contains("` is open for the rest");
        match result.name.as_str() {
            "read_skill" if result.text.contains("# Skill: ") => "body".to_owned(),
            "read_skill" if is_opened => "activated".to_owned(),
            "read_skill" if result.text.contains("was not opened") => "superseded".to_owned(),
            "read_skill" => rejections.pop_front().map_or("?".to_owned(), |reason| format!("refused {reason:?}")),
            "skip_step" if result.text.contains("say why it is not needed") => "skip-needs-reason".to_owned(),
            "skip_step" if result.text.contains("stays the current one") => "skip-held".to_owned(),
            "skip_step" if result.text.contains("steps are behind") => "skip-completed".to_owned(),
            "skip_step" if result.text.contains("one step a message") => "skip-one-a-message".to_owned(),
            "skip_step" => "skip-advanced".to_owned(),
            _ => "result".to_owned(),
        }
    };
    let mut all: Vec<&skillgraph::core::turn::ToolMessage> = results.flatten().collect();
    all.retain(|result| result.name != "list_skills");
    let mut kind = kind;
    all.into_iter().map(|result| (result.call_id.clone(), kind(result))).collect()
}

/// An event that both sides have, in a form of their own.
fn our_event(event: &Event) -> Option<String> {
    Some(match event {
        Event::StepAdvanced { skill, step, total, tool, .. } => format!("advanced {skill} {step}/{total} {tool}"),
        Event::StepSkipped { skill, step, total, policy, .. } => {
            format!("skipped {skill} {step}/{total} {}", format!("{policy:?}").to_lowercase())
        }
        Event::StepsUnfinished { skill, remaining, action, .. } => {
            let action = if *action == UnfinishedAction::Nudged { "nudged" } else { "accepted" };
            format!("unfinished {skill} {remaining:?} {action}")
        }
        Event::PickRejected { requested, cursor, allowed, .. } => {
            let allowed: BTreeSet<String> = allowed.iter().map(ToString::to_string).collect();
            let cursor = cursor.as_ref().map_or("-", |cursor| cursor.as_str());
            format!("rejected {requested} at {cursor}: {}", join(&allowed))
        }
        Event::RerouteSuperseded { requested, .. } => format!("superseded {requested}"),
        Event::RouteConflict { winner, losers, .. } => {
            let losers: BTreeSet<String> = losers.iter().map(|loser| loser.target.to_string()).collect();
            format!("conflict {} over {}", winner.target, join(&losers))
        }
        Event::ProposalRefused { reason: ProposalRefusal::NoReason, .. } => "proposal - refused".to_owned(),
        Event::ProposalRefused { requested, .. } => format!("proposal {requested} refused"),
        Event::GovernorTripped { .. } => "escalated".to_owned(),
        Event::TurnRouted(routed) => {
            let id = |id: &Option<SkillId>| id.as_ref().map_or("-".to_owned(), ToString::to_string);
            let by = if routed.offered.is_empty() || routed.decider.is_some() {
                routed.by.to_string()
            } else {
                "menu".into()
            };
            let to = if by == "menu" { "-".to_owned() } else { id(&routed.to) };
            format!("routed {} to {to} by {by}", id(&routed.from))
        }
        Event::CursorDecided(decided) if decided.by == Cause::ToolProposal => {
            format!("proposal {} accepted", decided.to.as_ref().expect("a target"))
        }
        _ => return None,
    })
}

fn join(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// What the cases say, in the same form.
mod theirs {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::{join, list};

    fn text(value: &Value) -> &str {
        value.as_str().unwrap_or("-")
    }

    fn set(values: &[Value]) -> BTreeSet<String> {
        values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }

    pub fn cursor(iteration: &Value) -> String {
        format!("{} by {}", text(&iteration["cursor"]["to"]), text(&iteration["cursor"]["by"]))
    }

    pub fn tools(iteration: &Value) -> BTreeSet<String> {
        set(list(iteration, "tools"))
    }

    pub fn bodies(iteration: &Value) -> BTreeSet<String> {
        set(list(iteration, "bodies"))
    }

    /// What is open already is neither reachable nor to be refused here.
    pub fn reachable(iteration: &Value, open: &[&str]) -> BTreeSet<String> {
        let mut reachable = set(list(&iteration["read_skill"], "reachable"));
        reachable.retain(|skill| !open.contains(&skill.as_str()));
        reachable
    }

    /// The menu; the skill that is open stands there as a choice to stay.
    pub fn menu(iteration: &Value, current: Option<&str>) -> BTreeSet<String> {
        let rows = list(&iteration["read_skill"], "menu").iter().filter_map(|row| row["skill"].as_str());
        let mut menu: BTreeSet<String> = rows.filter(|skill| Some(*skill) != current).map(str::to_owned).collect();
        if iteration["read_skill"]["menu_stay_in"].is_string() {
            menu.insert("stay".to_owned());
        }
        menu
    }

    pub fn step(iteration: &Value) -> String {
        match iteration.get("step").filter(|step| step["banner_on"].is_string()) {
            Some(step) => format!("{} of {} on {}", step["index"], step["total"], text(&step["banner_on"])),
            None => String::new(),
        }
    }

    pub fn result(result: &Value) -> String {
        let kind = match text(&result["kind"]) {
            "refused-unreachable" | "refused-dead-end" => "refused NotReachable",
            "refused-guard-off-menu" | "refused-guard-no-menu" => "refused OffMenu",
            "refused-rails" => "refused Rails",
            "refused-tree" => "refused Tree",
            "refused-arguments" => "BadArguments",
            "unknown-tool" => "NotOffered",
            "refused-permission" => "Denied",
            other => other,
        };
        format!("{} {kind}", text(&result["call"]))
    }

    pub fn event(event: &Value) -> Option<String> {
        let data = &event["data"];
        let step = || {
            let step = &data["step"];
            format!("{} {}/{}", text(&data["skillId"]), step["index"], step["total"])
        };
        Some(match text(&event["name"]) {
            "skill.step_advanced" => format!("advanced {} {}", step(), text(&data["step"]["tool"])),
            "skill.step_skipped" => format!("skipped {} {}", step(), text(&data["policy"])),
            "skill.steps_unfinished" => {
                let left: Vec<u64> = list(data, "remaining").iter().filter_map(|step| step["index"].as_u64()).collect();
                format!("unfinished {} {left:?} {}", text(&data["skillId"]), text(&data["action"]))
            }
            "skill.rejected" => {
                let allowed = join(&set(list(data, "allowed")));
                format!("rejected {} at {}: {allowed}", text(&data["requestedId"]), text(&data["currentSkillId"]))
            }
            "skill.reroute_superseded" => format!("superseded {}", text(&data["volunteeredId"])),
            "skill.route_conflict" => {
                let losers = list(data, "losers").iter().map(|loser| loser["target"].clone());
                format!("conflict {} over {}", text(&data["winner"]["target"]), join(&set(&losers.collect::<Vec<_>>())))
            }
            "skill.escalated" => "escalated".to_owned(),
            "skill.turn_routed" => {
                format!("routed {} to {} by {}", text(&data["from"]), text(&data["to"]), text(&data["by"]))
            }
            "tools.effect" => format!("proposal {} {}", text(&data["targetSkillId"]), text(&data["outcome"])),
            _ => return None,
        })
    }

    pub fn decider(call: &Value) -> String {
        join(&set(list(call, "allowed")))
    }
}
