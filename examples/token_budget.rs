//! What 40 skills with 400 tools cost a model call, by how they are disclosed: everything up front, listed in a catalog, searched,
//! and as a graph. The model is scripted and does the same piece of work each time; the tokens of every request are counted.
//!
//! `cargo run --example token_budget`

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use skillgraph::core::decl::{CatalogSkillSpec, CatalogSpec, ConditionSpec, EntrySpec, SkillSpec};
use skillgraph::{
    AgentBuilder, BoundTool, Disclosure, DynTool, Graph, GraphSpec, ModelReply, ModelRequest, ScriptedModel,
    SkillPolicy, ToolCall, ToolReply,
};
use tiktoken_rs::CoreBPE;

static TOKENIZER: LazyLock<CoreBPE> =
    LazyLock::new(|| tiktoken_rs::o200k_base().expect("a vocabulary that is built in"));

/// What each skill can be about, and what can be done about it.
const THINGS: [&str; 40] = [
    "invoice",
    "refund",
    "order",
    "shipment",
    "customer",
    "contract",
    "ticket",
    "calendar",
    "meeting",
    "email",
    "document",
    "spreadsheet",
    "report",
    "budget",
    "payroll",
    "expense",
    "vendor",
    "purchase",
    "inventory",
    "warehouse",
    "return",
    "campaign",
    "lead",
    "deal",
    "quote",
    "survey",
    "candidate",
    "interview",
    "employee",
    "vacation",
    "device",
    "license",
    "incident",
    "deployment",
    "database",
    "backup",
    "certificate",
    "network",
    "policy",
    "audit",
];
const ACTIONS: [&str; 10] =
    ["find", "read", "create", "update", "delete", "list", "export", "share", "approve", "archive"];

const MESSAGE: &str = "Find the invoice 1042 and approve it.";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let work = [call("find_invoice"), call("approve_invoice"), ModelReply::text("Invoice 1042 is approved.")];
    let open = || ModelReply::calls([ToolCall::new("c0", "open_skill", json!({ "key": "invoice" }).to_string())]);
    let search = ModelReply::calls([ToolCall::new("c9", "search_skills", json!({ "query": "invoice" }).to_string())]);
    let ways = [
        ("everything up front", up_front(), None, work.to_vec()),
        ("catalog", catalog(), Some(Disclosure::Catalog), [vec![open()], work.to_vec()].concat()),
        ("search", catalog(), Some(Disclosure::Search), [vec![search, open()], work.to_vec()].concat()),
        ("graph", graph(), None, work.to_vec()),
    ];
    println!("| disclosed as | tokens of each request | in all |\n|---|---|---:|");
    for (name, spec, disclosure, script) in ways {
        let requests = run(&spec, disclosure, script).await;
        let tokens: Vec<usize> = requests.iter().map(tokens).collect();
        let each: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        println!("| {name} | {} | {} |", each.join(", "), tokens.iter().sum::<usize>());
    }
}

/// Every tool in every request, and the instructions of all skills in one body.
fn up_front() -> GraphSpec {
    let mut spec = GraphSpec::new("up-front");
    let body: Vec<String> = THINGS.iter().map(|thing| format!("# {thing}\n\n{}", instructions(thing))).collect();
    spec.skills =
        vec![skill("assistant", "Everything", body.join("\n\n"), THINGS.iter().flat_map(|thing| tools_of(thing)))];
    spec.entries =
        vec![EntrySpec { skill: "assistant".into(), when: None, examples: None, never_picked: false, label: None }];
    spec
}

/// A line a skill, opened when it is needed.
fn catalog() -> GraphSpec {
    let mut spec = GraphSpec::new("catalog");
    let skills = THINGS.map(|thing| CatalogSkillSpec {
        key: thing.into(),
        header: header(thing),
        prompt: instructions(thing),
        tools: tools_of(thing).collect(),
        ..CatalogSkillSpec::default()
    });
    spec.catalog = Some(CatalogSpec { skills: skills.into(), ..CatalogSpec::default() });
    spec
}

/// The author knows which words lead where: the skill is open before the model is asked.
fn graph() -> GraphSpec {
    let mut spec = GraphSpec::new("graph");
    spec.skills =
        THINGS.iter().map(|thing| skill(thing, &header(thing), instructions(thing), tools_of(thing))).collect();
    let rule = |thing: &str| Some(ConditionSpec::Keywords(vec![thing.to_owned()]));
    let entry = |thing: &str| EntrySpec {
        skill: thing.into(),
        when: rule(thing),
        examples: None,
        never_picked: false,
        label: None,
    };
    spec.entries = THINGS.iter().map(|thing| entry(thing)).collect();
    spec
}

async fn run(spec: &GraphSpec, disclosure: Option<Disclosure>, script: Vec<ModelReply>) -> Vec<ModelRequest> {
    let names: Vec<String> = THINGS.iter().flat_map(|thing| tools_of(thing)).collect();
    let graph = Graph::compile(spec, &names).unwrap_or_else(|report| panic!("{report}"));
    let model = ScriptedModel::new(script);
    let mut agent = AgentBuilder::new(Arc::new(graph), names.iter().map(|name| BoundTool::dynamic(tool(name))));
    if let Some(disclosure) = disclosure {
        agent = agent.catalog_policy(SkillPolicy { disclosure, ..SkillPolicy::DEFAULT });
    }
    let agent = agent.model(model.clone()).build().expect("an agent");
    let report = agent.run(MESSAGE).await.expect("a turn");
    assert_eq!(report.text(), Some("Invoice 1042 is approved."));
    model.requests()
}

/// The tokens of what a provider is sent: the prompt, the messages, the tools.
fn tokens(request: &ModelRequest) -> usize {
    let messages = serde_json::to_string(&request.messages).expect("messages serialise");
    let tools = request.tools.iter().map(|tool| {
        let parameters = json_of(&tool.parameters);
        format!(r#"{{"name":"{}","description":"{}","parameters":{parameters}}}"#, tool.name, tool.description)
    });
    let count = |text: &str| TOKENIZER.encode_ordinary(text).len();
    count(&request.system) + count(&messages) + tools.map(|tool| count(&tool)).sum::<usize>()
}

/// JSON with its keys in the order of the alphabet, whatever is built beside this.
fn json_of(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, &Value> = fields.iter().collect();
            let fields = fields.into_iter().map(|(name, value)| format!("{}:{}", json!(name), json_of(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(json_of).collect::<Vec<_>>().join(",")),
        value => value.to_string(),
    }
}

fn call(tool: &str) -> ModelReply {
    ModelReply::calls([ToolCall::new(tool, tool, json!({ "id": 1042 }).to_string())])
}

fn header(thing: &str) -> String {
    format!("work with one {thing} or many: find, read, change, approve, share")
}

fn instructions(thing: &str) -> String {
    format!(
        "Find the {thing} before you change it, and read it before you approve it. Never delete a {thing} that somebody has \
         shared. Say what you changed, with the number of the {thing}, in one sentence. Where the {thing} does not exist, say so \
         and ask for its number."
    )
}

fn tools_of(thing: &str) -> impl Iterator<Item = String> {
    ACTIONS.iter().map(move |action| format!("{action}_{thing}"))
}

fn skill(id: &str, description: &str, body: String, tools: impl Iterator<Item = String>) -> SkillSpec {
    let spec = json!({ "id": id, "description": description, "body": body, "tools": tools.collect::<Vec<_>>() });
    serde_json::from_value(spec).expect("a skill")
}

fn tool(name: &str) -> DynTool {
    let (action, thing) = name.split_once('_').unwrap_or((name, name));
    let parameters = json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer", "description": format!("the number of the {thing}") },
            "note": { "type": "string", "description": "a remark for the log" },
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    DynTool::new(
        name,
        format!("Will {action} a {thing} by its number."),
        parameters,
        |arguments: Value, _| async move { Ok::<_, Infallible>(ToolReply::success(json!({ "done": arguments["id"] }))) },
    )
}
