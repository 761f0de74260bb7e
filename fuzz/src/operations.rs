//! Any sequence of operations on a turn, in any order: what it waits for and what it does not, storage, other versions of its
//! graph, stored text that somebody has changed. It never panics, a refused input changes nothing, its transcript is always
//! one that a provider takes, and what is hidden is never said.

use std::sync::{Arc, LazyLock};

use arbitrary::{Arbitrary, Result, Unstructured};
use serde_json::{Value, json};
use skillgraph::core::catalog::{Catalog, CatalogEntry, Disclosure, SkillPolicy, ToolHeader};
use skillgraph::core::graph::Graph;
use skillgraph::core::score::ScorerTraits;
use skillgraph::core::turn::{
    Capability, Carried, CatalogAnswer, CatalogQuestion, CatalogTool, Check, Choice, Decision, Input, Limits,
    ModelReply, Output, Permissions, Proposal, SavedTurn, Scores, Setup, StopReason, Strictness, Target, ToolReturn,
    ToolSpec, Turn,
};
use skillgraph::{GraphSpec, Message, Question, Status, ToolCall, ToolId, Transcript};

const TOOLS: [&str; 4] = ["find", "check", "pay", "note"];
const SKILLS: [&str; 7] = ["desk", "billing", "orders", "vault", "handbook", "menu-only", "gone"];

/// A turn, and what is done to it.
#[derive(Debug)]
pub struct Scenario {
    graph: usize,
    strictness: Strictness,
    decider: bool,
    /// A bit for each skill that is hidden, where permissions are asked for.
    hidden: Option<u8>,
    iterations: u32,
    inherited: Option<usize>,
    message: &'static str,
    operations: Vec<Operation>,
}

#[derive(Debug)]
enum Operation {
    /// The model replies: for each call an id, a name and arguments.
    Reply {
        calls: Vec<(u8, u8, u8)>,
        stop: u8,
        words: bool,
    },
    ModelFails,
    /// A tool returns: one of those that run, or one that does not.
    Return {
        which: u8,
        status: u8,
        long: bool,
        proposal: Option<u8>,
    },
    /// Permissions are decided; some of the answers may be missing.
    Authorize {
        denied_calls: u8,
        missing: bool,
    },
    Score {
        scores: Vec<i8>,
        fail: bool,
    },
    Choose(u8),
    /// The host answers what is asked of the catalog: of each question the way, and some of the answers may be missing.
    Catalog {
        ways: u16,
        missing: bool,
    },
    /// A person answers one of the questions, or none of them.
    Answer {
        which: u8,
        reply: u8,
    },
    Cancel,
    /// To storage and back.
    Store,
    /// The same, and one byte of the text is another then.
    Tamper {
        at: u16,
        byte: u8,
    },
    /// The same, under another version of the graph.
    Migrate(u8),
}

impl<'a> Arbitrary<'a> for Scenario {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let strictness = [Strictness::Assist, Strictness::Guard, Strictness::Rails];
        let messages = ["hello", "a refund for my parcel", "give me the keys", "\u{0}\n`desk`", ""];
        Ok(Self {
            graph: u.choose_index(SETS.len())?,
            strictness: *u.choose(&strictness)?,
            decider: u.arbitrary()?,
            hidden: u.arbitrary()?,
            iterations: u.int_in_range(0..=6)?,
            inherited: if u.arbitrary()? { Some(u.choose_index(SKILLS.len())?) } else { None },
            message: u.choose(&messages)?,
            operations: (0..u.int_in_range(0..=24)?).map(|_| Operation::arbitrary(u)).collect::<Result<_>>()?,
        })
    }
}

impl<'a> Arbitrary<'a> for Operation {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=17u8)? {
            0..=3 => Operation::Reply {
                calls: (0..u.int_in_range(0..=4)?).map(|_| u.arbitrary()).collect::<Result<_>>()?,
                stop: u.arbitrary()?,
                words: u.arbitrary()?,
            },
            4..=6 => Operation::Return {
                which: u.arbitrary()?,
                status: u.arbitrary()?,
                long: u.arbitrary()?,
                proposal: u.arbitrary()?,
            },
            7..=8 => Operation::Authorize { denied_calls: u.arbitrary()?, missing: u.ratio(1, 8)? },
            9 => Operation::Score {
                scores: (0..u.int_in_range(0..=5)?).map(|_| u.arbitrary()).collect::<Result<_>>()?,
                fail: u.arbitrary()?,
            },
            10 => Operation::Choose(u.arbitrary()?),
            11 => Operation::Answer { which: u.arbitrary()?, reply: u.arbitrary()? },
            12 => Operation::Store,
            13 => Operation::Migrate(u.arbitrary()?),
            15..=16 => Operation::Catalog { ways: u.arbitrary()?, missing: u.ratio(1, 8)? },
            14 => Operation::Tamper { at: u.arbitrary()?, byte: u.arbitrary()? },
            _ if u.ratio(1, 4)? => Operation::Cancel,
            _ => Operation::ModelFails,
        })
    }
}

/// Versions of one graph: the second has other steps, other positions and no `billing`; the third is a tree.
static SETS: LazyLock<[Arc<Graph>; 3]> = LazyLock::new(|| {
    let skill = |id: &str, tools: Value| json!({ "id": id, "description": format!("About {id}"), "body": format!("Do {id}."), "tools": tools });
    let stepped = |id: &str, tools: Value, steps: Value| {
        let mut stepped = skill(id, tools);
        stepped["steps"] = steps;
        stepped
    };
    let step = |tool: &str| json!({ "tool": tool, "note": "as said" });
    let mut handbook = json!({ "id": "handbook", "description": "How it is done", "body": "Do handbook." });
    handbook["surface"] = json!("tool_result");
    handbook["refresh"] = json!(2);
    let vault = {
        let mut vault = skill("vault", json!(["note"]));
        vault["scope"] = json!("always");
        vault
    };
    let intent = |skill: &str| json!({ "skill": skill, "when": { "intent": { "intent": format!("about {skill}"), "examples": ["the keys"] } } });
    let first = json!({
        "name": "desk",
        "baseline": ["find"],
        "skills": [
            skill("desk", json!(["find"])),
            stepped("billing", json!(["find", "check", "pay"]), json!([step("check"), step("pay"), step("check")])),
            skill("orders", json!(["note"])),
            vault,
            handbook,
            { "id": "menu-only", "description": "Menu", "body": "Do menu-only." },
        ],
        "entries": [
            { "skill": "desk" },
            { "skill": "billing", "when": { "keywords": ["refund"] } },
            { "skill": "orders", "when": { "matches": "parcel" } },
            intent("vault"),
            { "skill": "menu-only", "when": "picked" },
        ],
        "classify": { "scorer": "host" },
        "governor": { "ping_pong": 2, "refusals": 2, "repeats": 2, "then": { "escalate": "larger" } },
        "routes": [
            { "from": "desk", "to": "billing", "on": ["find"] },
            { "from": "billing", "to": "desk", "on": ["pay"], "is": ["denied", "failure"] },
            { "from": "billing", "to": "orders", "on": ["check"], "is": ["pending"] },
            { "from": "billing", "to": "orders", "on": ["pay"], "where": [{ "path": "amount", "op": ">", "value": 3 }] },
            { "from": "orders", "to": "desk", "pick": true },
        ],
    });
    let second = json!({
        "name": "desk",
        "skills": [
            skill("orders", json!(["pay", "note"])),
            stepped("desk", json!(["find", "check"]), json!([step("find"), step("check")])),
        ],
        "entries": [{ "skill": "desk" }, { "skill": "orders", "when": { "keywords": ["parcel"] } }],
        "routes": [{ "from": "desk", "to": "orders", "on": ["find"] }],
        "governor": { "repeats": 2, "then": "stop" },
    });
    let third = json!({
        "name": "desk",
        "skills": [skill("billing", json!(["pay"])), skill("desk", json!(["find", "note"]))],
        "tree": { "if": { "keywords": ["refund"] }, "then": "billing", "else": "desk" },
    });
    [(first, &TOOLS[..]), (second, &["note", "pay", "check", "find"]), (third, &TOOLS[..])].map(|(spec, tools)| {
        let spec: GraphSpec = serde_json::from_value(spec).expect("a spec");
        Arc::new(Graph::compile(&spec, tools).expect("a sound graph"))
    })
});

/// Keys of skills of a catalog; the last is of none.
const KEYS: [&str; 4] = ["kit", "box:large", "lamp", "nothing"];
/// Tools that only a host knows.
const FOREIGN: [&str; 3] = ["f0", "f1", "f2"];

/// The catalog beside each version: the second has lost a skill and a tool, and may have less open; the tree has none.
fn catalog(graph: usize) -> Option<Catalog> {
    let entry = |key: &str, tools: &[&str], may_be_away: bool| CatalogEntry {
        key: key.into(),
        header: format!("About {key}"),
        tools: tools.iter().map(|name| ToolHeader { name: (*name).into(), description: None }).collect(),
        default_bind: tools.iter().take(1).map(|name| (*name).to_owned()).collect(),
        may_be_away,
        ..CatalogEntry::default()
    };
    let policy = |open, bound, disclosure| SkillPolicy {
        max_open_skills: open,
        max_bound_tools_per_skill: 2,
        max_bound_tools_total: bound,
        disclosure,
        ..SkillPolicy::DEFAULT
    };
    let (policy, entries) = match graph {
        0 => {
            let entries = vec![
                entry("kit", &["pay", "f0"], true),
                entry("box:large", &["f0", "f1", "f2"], false),
                entry("lamp", &[], true),
            ];
            (policy(2, 3, Disclosure::Catalog), entries)
        }
        1 => (
            policy(1, 2, Disclosure::Search),
            vec![entry("box:large", &["f2", "f1"], true), entry("kit", &["f0"], false)],
        ),
        _ => return None,
    };
    Some(Catalog::new(policy, entries).and_then(|catalog| catalog.preopen(["kit"])).expect("a catalog"))
}

fn setup(scenario: &Scenario, graph: usize) -> Arc<Setup> {
    let version = graph % SETS.len();
    let graph = SETS[version].clone();
    let tools = graph.tools().to_vec();
    let catalog = catalog(version);
    let graph = match &catalog {
        Some(_) => Arc::new(graph.with_tools(FOREIGN.map(ToolId::from))),
        None => graph,
    };
    let spec = |name: &ToolId| {
        let parameters = json!({ "type": "object", "properties": {} });
        Arc::new(ToolSpec { name: name.clone(), description: "Works.".into(), parameters })
    };
    Arc::new(Setup {
        limits: Limits { iterations: scenario.iterations, result_characters: 40 },
        strictness: scenario.strictness,
        decider: scenario.decider,
        permissions: scenario.hidden.map(|_| Permissions { declared: vec![vec![Capability::from("money")]] }),
        catalog,
        ..Setup::new(graph, tools.iter().map(spec).collect())
    })
}

/// Does all of it.
pub fn run(scenario: &Scenario) {
    let mut setup = setup(scenario, scenario.graph);
    let cursor = scenario.inherited.map(|skill| SKILLS[skill].into());
    let mut turn = Turn::start_from(setup.clone(), Carried { cursor, ..Carried::default() }, scenario.message);
    let mut watch = Watch { scenario, trusted: true };
    watch.look(&mut turn);
    for operation in &scenario.operations {
        match operation {
            Operation::Store => turn = Turn::restore(setup.clone(), stored(&turn)).expect("the same graph"),
            Operation::Tamper { at, byte } => {
                let mut text = serde_json::to_vec(&turn.save()).expect("a turn serialises");
                let at = usize::from(*at) % text.len();
                text[at] = *byte;
                let Ok(saved) = serde_json::from_slice::<SavedTurn>(&text) else { continue };
                let Ok(restored) = Turn::restore(setup.clone(), saved) else { continue };
                // Words may have changed, and then all that can be asked is that nothing breaks.
                watch.trusted = false;
                turn = restored;
            }
            Operation::Migrate(graph) => {
                let saved = stored(&turn);
                setup = self::setup(scenario, usize::from(*graph));
                turn = Turn::migrate(setup.clone(), saved).expect("permissions are as they were");
            }
            operation => watch.tell(&mut turn, operation),
        }
        watch.look(&mut turn);
    }
    let is_over = matches!(turn.poll_output(), Output::Done(_));
    assert_eq!(turn.handle_input(Input::Cancel).is_err(), is_over, "a turn can be cancelled until it is over");
    watch.look(&mut turn);
    assert!(matches!(turn.poll_output(), Output::Done(_)));
    if watch.trusted {
        assert_paired(turn.transcript());
    }
}

fn stored(turn: &Turn) -> SavedTurn {
    let text = serde_json::to_string(&turn.save()).expect("a turn serialises");
    let saved: SavedTurn = serde_json::from_str(&text).expect("a turn deserialises");
    let again = serde_json::to_string(&saved).expect("a turn serialises");
    assert_eq!(again, text, "what comes back is what was saved");
    saved
}

struct Watch<'a> {
    scenario: &'a Scenario,
    /// Nobody has changed the turn in storage.
    trusted: bool,
}

impl Watch<'_> {
    /// What must hold whenever anybody looks.
    fn look(&self, turn: &mut Turn) {
        while turn.poll_event().is_some() {}
        let output = turn.poll_output();
        assert_eq!(output, turn.poll_output(), "asking changes nothing");
        let Output::CallModel(request) = output else { return };
        if !self.trusted {
            return;
        }
        assert!(request.iteration <= self.scenario.iterations);
        assert_paired(&request.messages);
        let opened = turn.catalog().opened();
        assert!(opened.skills().len() <= 2 && opened.tools().len() <= 3, "{opened:?}");
        let bound = |name: &&str| opened.tools().any(|bound| bound == *name);
        let offered = |name: &&str| request.tools.iter().any(|tool| tool.name == **name);
        assert!(FOREIGN.iter().all(|name| bound(name) == offered(name)), "{opened:?} {:?}", request.tool_names());
        let said = format!("{:?} {}", request.tools, request.system);
        for (at, skill) in SKILLS.iter().enumerate() {
            let is_hidden = self.scenario.hidden.is_some_and(|hidden| hidden & (1 << at) != 0);
            assert!(!is_hidden || !said.contains(&format!("About {skill}")), "{skill} is hidden: {said}");
        }
    }

    /// Tells the turn something. What it does not wait for is refused, and changes nothing.
    fn tell(&self, turn: &mut Turn, operation: &Operation) {
        let input = self.input(turn, operation);
        let before = turn.save();
        if turn.handle_input(input).is_err() {
            assert_eq!(before, turn.save(), "a refused input has changed something");
        }
    }

    fn input(&self, turn: &Turn, operation: &Operation) -> Input {
        match operation {
            Operation::Reply { calls, stop, words } => Input::ModelReplied(reply(calls, *stop, *words)),
            Operation::ModelFails => Input::ModelFailed { reason: "away".into() },
            Operation::Return { which, status, long, proposal } => {
                let call_id = match turn.poll_output() {
                    Output::RunTools(runs) if *which < 200 => runs[usize::from(*which) % runs.len()].call_id.clone(),
                    _ => format!("{which}"),
                };
                let status = Status::ALL[usize::from(*status) % Status::ALL.len()];
                let value = if *long { json!("x".repeat(100)) } else { json!({ "amount": *which }) };
                let mut returned = ToolReturn::new(call_id, status, value);
                returned.proposal = proposal.map(|skill| Proposal {
                    skill: SKILLS[usize::from(skill) % SKILLS.len()].to_owned(),
                    reason: if skill % 5 == 0 { String::new() } else { "so".into() },
                });
                Input::ToolReturned(returned)
            }
            Operation::Authorize { denied_calls, missing } => {
                let checks = match turn.poll_output() {
                    Output::Authorize(checks) => checks,
                    _ => Vec::new(),
                };
                let mut decisions: Vec<Decision> =
                    checks.iter().enumerate().map(|(at, check)| self.decide(at, check, *denied_calls)).collect();
                if *missing {
                    decisions.pop();
                }
                Input::Authorized(decisions)
            }
            Operation::Score { fail: true, .. } => Input::ScoreFailed { reason: "no".into() },
            Operation::Score { scores, .. } => Input::Scored(Scores {
                scorer: "any".into(),
                scores: scores.iter().map(|score| if *score == -1 { f64::NAN } else { f64::from(*score) }).collect(),
                traits: ScorerTraits::default(),
            }),
            Operation::Choose(choice) if usize::from(*choice) % (SKILLS.len() + 3) == SKILLS.len() + 2 => {
                Input::DecideFailed { reason: "no".into() }
            }
            Operation::Choose(choice) => Input::Decided(match usize::from(*choice) % (SKILLS.len() + 3) {
                0 => Choice::None,
                1 => Choice::Stay,
                skill => Choice::Skill(SKILLS[skill - 2].into()),
            }),
            Operation::Catalog { ways, missing } => {
                let questions = match turn.poll_output() {
                    Output::AskCatalog(questions) => questions,
                    _ => Vec::new(),
                };
                let mut answers: Vec<CatalogAnswer> = questions
                    .into_iter()
                    .enumerate()
                    .map(|(at, question)| answer(question, ways.rotate_right(3 * (at as u32 % 5)) % 8))
                    .collect();
                if *missing {
                    answers.pop();
                }
                Input::CatalogAnswered(answers)
            }
            Operation::Answer { which, reply } => {
                let nobody = Question {
                    id: u64::from(*which),
                    fingerprint: String::new(),
                    call_id: "nobody".into(),
                    tool: ToolId::from("find"),
                    arguments: serde_json::Map::new(),
                    text: String::new(),
                };
                let question = match turn.poll_output() {
                    Output::Pause(questions) if *which < 200 => {
                        questions[usize::from(*which) % questions.len()].clone()
                    }
                    _ => nobody,
                };
                Input::PersonAnswered(match reply % 5 {
                    0 => question.approve(),
                    1 => question.reply("words"),
                    2 => question.deny("no"),
                    3 => question
                        .approve_with(serde_json::Map::from_iter([("other".to_owned(), which.to_string().into())])),
                    _ => question.postpone(),
                })
            }
            Operation::Cancel | Operation::Store | Operation::Tamper { .. } | Operation::Migrate(_) => Input::Cancel,
        }
    }

    fn decide(&self, at: usize, check: &Check, denied_calls: u8) -> Decision {
        let denied = match &check.target {
            Target::Skill(id) => {
                let hidden = self.scenario.hidden.unwrap_or_default();
                SKILLS.iter().position(|skill| id == skill).is_some_and(|at| hidden & (1 << at) != 0)
            }
            _ => denied_calls & (1 << (at % 8)) != 0,
        };
        if denied { Decision::denied("no") } else { Decision::Allowed }
    }
}

/// Yes mostly; else no, something else, or less than was asked for.
fn answer(question: CatalogQuestion, way: u16) -> CatalogAnswer {
    let told = |names: Vec<String>| -> Vec<CatalogTool> {
        let tool = |name: &String| {
            let parameters = json!({ "type": "object", "properties": {} });
            let spec = ToolSpec { name: ToolId::from(name.as_str()), description: "Works.".into(), parameters };
            CatalogTool::new(Arc::new(spec), vec![Capability::from("light")])
        };
        names.iter().map(tool).collect()
    };
    match (way, question) {
        (0, _) => CatalogAnswer::Failed { reason: "it failed".into() },
        (1, _) => CatalogAnswer::Unavailable { reason: "away".into() },
        (_, CatalogQuestion::Available { .. }) => CatalogAnswer::Available,
        (2, CatalogQuestion::Open { .. }) => CatalogAnswer::Available,
        (3, CatalogQuestion::Open { .. }) => {
            CatalogAnswer::Opened { prompt: "x".repeat(100), ranked: Vec::new(), tools: Vec::new() }
        }
        (4, CatalogQuestion::Open { .. }) => CatalogAnswer::Opened {
            prompt: String::new(),
            ranked: vec!["f9".into()],
            tools: told(vec!["f2".into(), "find".into()]),
        },
        (_, CatalogQuestion::Open { tools, .. }) => {
            CatalogAnswer::Opened { prompt: "Do.".into(), ranked: Vec::new(), tools: told(tools) }
        }
        (_, CatalogQuestion::Bind { tools, .. }) => CatalogAnswer::Bound { tools: told(tools) },
        _ => CatalogAnswer::Available,
    }
}

fn reply(calls: &[(u8, u8, u8)], stop: u8, words: bool) -> ModelReply {
    let own = ["read_skill", "list_skills", "skip_step", "open_skill", "bind_skill_tools", "search_skills"];
    let names = [&TOOLS[..], &FOREIGN[..], &own[..], &["nothing", "desk"]].concat();
    let arguments = |at: u8| match usize::from(at) % (SKILLS.len() + 4 + 2 * KEYS.len()) {
        0 => String::new(),
        1 => "null".to_owned(),
        2 => "{\"id\":".to_owned(),
        3 => "{\"reason\":\"because\"}".to_owned(),
        skill if skill < SKILLS.len() + 4 => json!({ "id": SKILLS[skill - 4] }).to_string(),
        key => {
            let key = KEYS[key % KEYS.len()];
            json!({ "key": key, "query": "for parcels", "tools": ["f1", "f0", "pay", "zz"] }).to_string()
        }
    };
    let calls = calls.iter().map(|(id, name, with)| {
        ToolCall::new(format!("c{}", id % 6), names[usize::from(*name) % names.len()], arguments(*with))
    });
    let stop = match stop % 6 {
        0 => StopReason::MaxTokens,
        1 => StopReason::Refusal,
        2 => StopReason::Other("pause_turn".into()),
        3 => StopReason::EndTurn,
        _ => StopReason::ToolCalls,
    };
    let text = if words { "words" } else { "" };
    ModelReply { text: text.into(), ..ModelReply::calls(calls) }.stopped(stop)
}

/// Each message with calls is followed by their results, one for each, in call order, and nothing stands between.
fn assert_paired(transcript: &Transcript) {
    let messages: Vec<&Message> = transcript.iter().collect();
    for (at, message) in messages.iter().enumerate() {
        let next = messages.get(at + 1);
        match message {
            Message::Assistant { calls, .. } if !calls.is_empty() => {
                let Some(Message::ToolResults { results }) = next else { panic!("calls without results at {at}") };
                assert!(calls.iter().map(|call| &call.id).eq(results.iter().map(|result| &result.call_id)));
                assert!(results.iter().all(|result| !result.text.is_empty()));
            }
            _ => assert!(!matches!(next, Some(Message::ToolResults { .. })), "results without calls at {at}"),
        }
    }
}
