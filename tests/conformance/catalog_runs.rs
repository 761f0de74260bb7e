//! `cognipeer/`, the cases that are whole runs: a scripted model opens, binds and calls.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use skillgraph::{
    Agent, Answer, CatalogEntry, CatalogSkill, CatalogSkillError, Conversation, DynTool, GraphSpec, Message,
    ModelReply, Outcome, PersonReply, ScriptedModel, Status, ToolCall, ToolReply,
};

use crate::catalog::{entry, policy};
use crate::common;
use crate::translate::list;
use crate::{Difference, Seen};

/// What opens, binds and finds here is called so too; the arguments have other names.
const NAVIGATION: [&str; 3] = ["open_skill", "bind_skill_tools", "search_skills"];

pub fn compare<'a>(case: &'a Value, run: impl AsyncFnOnce(&'a Value) -> Vec<Difference>) -> Vec<Seen<'a>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let differences = runtime.block_on(run(case));
    differences.into_iter().map(|difference| Seen { case, step: None, difference }).collect()
}

/// Calls one after the other, a turn each: what is open and bound after each.
pub async fn calls(case: &Value) -> Vec<Difference> {
    let input = &case["input"];
    let skill = &input["skills"][0];
    let steps = list(case, "steps");
    let turns = steps.iter().map(|step| json!({ "calls": [[step["tool"], step["args"]]] }));
    let script: Vec<Value> = turns.flat_map(|turn| [turn, json!({ "content": "done" })]).collect();
    let agent = agent(input, &ScriptedModel::new(script.iter().enumerate().map(reply)));
    let mut conversation = agent.conversation();
    let mut differences = Vec::new();
    for step in steps {
        conversation.send("go").await.expect("a turn");
        let (observed, ours) = (&step["observed"], conversation.catalog());
        let is_open = texts(&observed["openedAfter"]).iter().any(|key| skill["key"] == key.as_str());
        note(&mut differences, "open", is_open, ours.is_open(skill["key"].as_str().unwrap_or_default()));
        let own = |name: &String| {
            ["tools", "bindAlways"].iter().flat_map(|of| list(skill, of)).any(|tool| tool["name"] == name.as_str())
        };
        let theirs: Vec<String> = texts(&observed["boundAfter"]).into_iter().filter(own).collect();
        note(&mut differences, "bound", json!(theirs), json!(ours.tools().collect::<Vec<_>>()));
    }
    differences
}

pub async fn run(case: &Value) -> Vec<Difference> {
    let (input, observed) = (&case["input"], &case["observed"]);
    let mut differences = Vec::new();
    let model = ScriptedModel::new(list(input, "script").iter().enumerate().map(reply));
    let agent = agent(input, &model);
    let mut conversation = agent.conversation();
    if let Some(reason) = observed.get("threw") {
        let report = conversation.send("go").await.expect("a turn");
        differences.push(Difference::new("threw", reason, format!("{:?}", report.outcome)));
        return differences;
    }
    for name in ["first", "second"] {
        let Some(expected) = observed.get(name).filter(|expected| expected.is_object()) else { continue };
        if case["id"] == "24g-fresh-invoke-no-state" && name == "second" {
            // Whoever does not go on with a conversation begins one.
            conversation = agent.conversation();
        }
        let way = expected.get("viaInvoke");
        if way.is_some() {
            // From what was stored; the reply to their other way on is not this one's.
            let saved = conversation.save();
            conversation = agent.restore(saved).expect("it is of this agent");
        }
        let expected = way.unwrap_or(expected);
        let before = model.requests().len();
        let pending = list(observed, "pending");
        let answer = match (name, conversation.questions().as_slice()) {
            // The person of the case says yes.
            ("second", [question]) => {
                let reply = PersonReply::Approved;
                conversation
                    .resume(Answer { question: question.id, fingerprint: question.fingerprint.clone(), reply })
                    .await
            }
            _ => conversation.send("go").await,
        };
        let report = answer.expect("a turn");
        if let Outcome::Paused { questions } = &report.outcome {
            let asked: Vec<&str> = questions.iter().map(|question| question.tool.as_str()).collect();
            note(&mut differences, "pending", json!(pending).to_string(), json!(asked).to_string());
        } else if way.is_none() {
            let answer = report.text().unwrap_or_default();
            note(&mut differences, "answer", expected["content"].to_string(), json!(answer).to_string());
        }
        let requests = model.requests().split_off(before);
        let offered = |names: &mut dyn Iterator<Item = String>| {
            let mut names: Vec<String> = names.collect();
            names.sort();
            json!(names)
        };
        let theirs =
            list(expected, "toolsBoundPerModelTurn").iter().map(|names| offered(&mut texts(names).into_iter()));
        let ours = requests.iter().map(|request| offered(&mut request.tool_names().into_iter().map(str::to_owned)));
        note(&mut differences, "offered", json!(theirs.collect::<Vec<_>>()), json!(ours.collect::<Vec<_>>()));
        let theirs = list(expected, "catalogLinesPerTurn").iter().map(texts).collect::<Vec<_>>();
        let ours = requests.iter().map(|request| {
            let lines = request.system.lines().filter(|line| line.starts_with("- "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        });
        if way.is_none() {
            note(&mut differences, "listed", json!(theirs), json!(ours.collect::<Vec<_>>()));
        }
        let kept = &expected["skillState"];
        let ours = conversation.catalog();
        note(
            &mut differences,
            "open",
            json!(texts(&kept["openedSkillKeys"])),
            json!(ours.skills().collect::<Vec<_>>()),
        );
        note(&mut differences, "bound", json!(texts(&kept["boundToolNames"])), json!(ours.tools().collect::<Vec<_>>()));
        note(&mut differences, "said", json!(said_there(expected)), json!(said_here(&conversation)));
    }
    differences
}

fn note(differences: &mut Vec<Difference>, field: &'static str, expected: impl ToString, ours: impl ToString) {
    let (expected, ours) = (expected.to_string(), ours.to_string());
    if expected != ours {
        differences.push(Difference::new(field, expected, ours));
    }
}

/// What the tools of skills returned, by call.
fn said_there(expected: &Value) -> BTreeMap<String, String> {
    let messages = list(expected, "toolMessages").iter();
    let own = messages.filter(|message| !NAVIGATION.iter().any(|name| message["name"] == *name));
    let ran = own.filter(|message| message["content"].as_str().is_some_and(|text| text.ends_with(":ok")));
    ran.map(|message| (message["tool_call_id"].to_string(), message["content"].to_string())).collect()
}

fn said_here(conversation: &Conversation) -> BTreeMap<String, String> {
    let transcript = conversation.transcript();
    let results = transcript.iter().filter_map(|message| match message {
        Message::ToolResults { results } => Some(results),
        _ => None,
    });
    let ran = results.flatten().filter(|result| result.status == Some(Status::Success));
    let own = ran.filter(|result| !NAVIGATION.contains(&result.name.as_str()));
    own.map(|result| (json!(result.call_id).to_string(), json!(result.text).to_string())).collect()
}

fn texts(values: &Value) -> Vec<String> {
    values.as_array().into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

fn reply((at, turn): (usize, &Value)) -> ModelReply {
    match turn["content"].as_str() {
        Some(text) => ModelReply::text(text),
        None => ModelReply::calls(list(turn, "calls").iter().enumerate().map(|(place, call)| {
            let arguments = call.get(1).cloned().unwrap_or_else(|| json!({}));
            let mut ours = json!({});
            for (there, here) in [("skillKey", "key"), ("toolNames", "tools"), ("query", "query"), ("limit", "limit")] {
                if let Some(value) = arguments.get(there) {
                    ours[here] = value.clone();
                }
            }
            let name = call[0].as_str().unwrap_or_default();
            ToolCall::new(format!("t{}_{place}", at + 1), name, ours.to_string())
        })),
    }
}

fn agent(input: &Value, model: &ScriptedModel) -> Agent {
    let mut spec = GraphSpec::new("run");
    spec.catalog = Some(Default::default());
    let base = texts(&input["baseTools"]);
    spec.baseline = base.clone();
    let graph = skillgraph::Graph::compile(&spec, &base).expect("a graph");
    let tools = base.iter().map(|name| skillgraph::BoundTool::dynamic(common::succeeds(name)));
    let mut agent =
        skillgraph::AgentBuilder::new(Arc::new(graph), tools).model(model.clone()).catalog_policy(policy(input));
    let skills = list(input, "skills");
    for skill in skills {
        agent = agent.catalog_skill(Skill { said: skill.clone(), asked: AtomicUsize::new(0) });
    }
    // Unknown keys are refused here when the agent is built.
    let known = |key: &String| skills.iter().any(|skill| skill["key"] == *key);
    let preopened = texts(&input["preopenedSkills"]).into_iter().map(|key| key.trim().to_owned()).filter(known);
    agent.preopen(preopened).build().expect("an agent")
}

/// A skill of a case.
struct Skill {
    said: Value,
    asked: AtomicUsize,
}

impl CatalogSkill for Skill {
    fn entry(&self) -> CatalogEntry {
        entry(&self.said)
    }

    async fn prompt(&self) -> Result<String, CatalogSkillError> {
        if let Some(reason) = self.said["promptFn"].get("throws") {
            return Err(CatalogSkillError::new(reason));
        }
        let text = self.said["prompt"].as_str().unwrap_or_default();
        let repeated = text.split_once('*').and_then(|(text, times)| Some(text.repeat(times.parse().ok()?)));
        Ok(repeated.unwrap_or_else(|| text.to_owned()))
    }

    async fn bind(&self, names: &[String]) -> Result<Vec<DynTool>, CatalogSkillError> {
        if let Some(reason) = self.said.get("bindThrows") {
            return Err(CatalogSkillError::new(reason));
        }
        if let Some(always) = self.said["bindAlways"].as_array() {
            return Ok(always.iter().map(tool).collect());
        }
        let wanted = list(&self.said, "tools").iter().filter(|tool| names.iter().any(|name| tool["name"] == *name));
        Ok(wanted.map(tool).collect())
    }

    async fn is_available(&self) -> Result<bool, CatalogSkillError> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        match &self.said["available"] {
            Value::Array(answers) => Ok(answers.get(asked).or(answers.last()).is_none_or(|answer| answer == true)),
            Value::Object(trouble) => Err(CatalogSkillError::new(&trouble["throws"])),
            answer => Ok(answer != false),
        }
    }

    async fn rank(&self, _: &str, index: &[skillgraph::ToolHeader]) -> Result<Vec<String>, CatalogSkillError> {
        if let Some(reason) = self.said["rank"].get("throws") {
            return Err(CatalogSkillError::new(reason));
        }
        Ok(index.iter().map(|tool| tool.name.clone()).collect())
    }
}

fn tool(said: &Value) -> DynTool {
    let name = said["name"].as_str().unwrap_or_default().to_owned();
    let (text, needs_approval) = (format!("{name}:ok"), said["needsApproval"] == true);
    DynTool::new(name, "", json!({ "type": "object" }), move |_, context| {
        let reply = match needs_approval && !context.is_approved() {
            true => ToolReply::pending("May it?"),
            false => ToolReply::success(json!(text)),
        };
        async move { Ok::<_, std::convert::Infallible>(reply) }
    })
}
