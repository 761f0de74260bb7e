//! Static embeddings from local files (SPEC 4, tier 2).

use std::path::{Path, PathBuf};

use crate::common::answer;
use serde_json::{Value, json};
use skillgraph::core::turn::ScoreRequest;
use skillgraph::{IntentCandidate, IntentScorer, ScriptedModel, StaticEmbeddings, StaticScorer, skill_graph};

/// A `.safetensors` file with one matrix.
fn safetensors(dtype: &str, rows: &[[f32; 2]]) -> Vec<u8> {
    let numbers = rows.iter().flatten();
    let data: Vec<u8> = match dtype {
        "F32" => numbers.flat_map(|number| number.to_le_bytes()).collect(),
        "BF16" => numbers.flat_map(|number| ((number.to_bits() >> 16) as u16).to_le_bytes()).collect(),
        // 0, 1 and 2 in half precision.
        _ => numbers.flat_map(|number| [0x0000_u16, 0x3c00, 0x4000][*number as usize].to_le_bytes()).collect(),
    };
    let tensor = json!({ "dtype": dtype, "shape": [rows.len(), 2], "data_offsets": [0, data.len()] });
    let header = json!({ "__metadata__": { "format": "pt" }, "embedding.weight": tensor }).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// `pay` is one direction, `parcel` the other, and what is neither is its bytes.
const ROWS: [[f32; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0]];

fn tokenizer() -> Value {
    json!({ "model": {
        "vocab": { "▁pay": 0, "▁parcel": 1, "<0x78>": 2, "▁refund": 3 },
        "merges": [
            "p a", ["pa", "y"], "▁ pay", "pa r", "c e", "ce l", "par cel", "▁ parcel", "r e", "f u", "n d", "re fu", "refu nd",
            "▁ refund",
        ],
    } })
}

/// The folder of one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embeddings").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn written(name: &str, weights: &[u8], tokenizer: &str) -> Result<StaticEmbeddings, String> {
    let folder = folder(name);
    let (of_weights, of_tokens) = (folder.join("weights.safetensors"), folder.join("tokenizer.json"));
    std::fs::write(&of_weights, weights).expect("a file");
    std::fs::write(&of_tokens, tokenizer).expect("a file");
    StaticEmbeddings::read(of_weights, of_tokens).map_err(|error| error.to_string())
}

#[test]
fn a_text_is_the_sum_of_its_tokens() {
    for dtype in ["F32", "F16", "BF16"] {
        let embeddings = written(dtype, &safetensors(dtype, &ROWS), &tokenizer().to_string()).expect("embeddings");
        assert_eq!(embeddings.embed("pay"), [1.0, 0.0], "{dtype}");
        assert_eq!(embeddings.embed("refund parcel pay"), [3.0, 1.0], "{dtype}");
        assert_eq!(embeddings.embed("x ☃"), [0.0, 0.0], "{dtype}");
        assert_eq!(embeddings.embed(""), [0.0, 0.0], "{dtype}");
    }
}

#[test]
fn files_that_are_something_else_are_named() {
    let (weights, tokens) = (safetensors("F32", &ROWS), tokenizer().to_string());
    let cases: [(&str, Vec<u8>, String, &str); 7] = [
        ("short", vec![1, 2], tokens.clone(), "weights.safetensors: it is no safetensors file"),
        ("endless", [0xff; 16].to_vec(), tokens.clone(), "weights.safetensors: its header"),
        (
            "cut",
            weights[..weights.len() - 4].to_vec(),
            tokens.clone(),
            "weights.safetensors: its matrix is outside of the file",
        ),
        ("integers", safetensors("I8", &ROWS), tokens.clone(), "weights.safetensors: expected numbers of type F16"),
        ("few", safetensors("F32", &ROWS[..2]), tokens.clone(), "beyond them"),
        ("text", weights.clone(), "tokens".into(), "tokenizer.json: it is no JSON"),
        (
            "words",
            weights.clone(),
            json!({ "model": { "vocab": {} } }).to_string(),
            "tokenizer.json: it has no `merges`",
        ),
    ];
    for (name, weights, tokens, expected) in cases {
        let error = written(name, &weights, &tokens).expect_err(name);
        assert!(error.contains(expected), "{name}: {error}");
    }
    let error = StaticEmbeddings::read("nowhere.safetensors", "nowhere.json").expect_err("no file").to_string();
    assert!(error.starts_with("nowhere.safetensors: "), "{error}");
}

skill_graph! {
    pub graph desk {
        tools {}
        skill triage { description: "Start", body: "Ask." }
        skill billing { description: "Money", body: "Pay." }
        skill shipping { description: "Parcels", body: "Send." }
        entry triage;
        entry billing when intent("pay", ["refund"]);
        entry shipping when intent("parcel", ["parcel"]);
        classify: host;
    }
}

#[tokio::test]
async fn a_message_goes_where_it_is_nearest() {
    let embeddings = written("route", &safetensors("F32", &ROWS), &tokenizer().to_string()).expect("embeddings");
    let model = ScriptedModel::new([answer()]);
    let agent =
        desk::agent(desk::Tools {}).model(model).scorer(StaticScorer::new(embeddings)).build().expect("an agent");
    let report = agent.run("refund").await.expect("a turn");
    assert_eq!(report.cursor, Some(desk::skill::billing));
}

/// With real files: `SKILLGRAPH_WEIGHTS` and `SKILLGRAPH_TOKENIZER`, of the PyPI package `wordllama`.
#[tokio::test]
#[ignore = "needs two files that are not in the repository"]
async fn real_embeddings_find_most_of_24_unseen_messages() {
    let file = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("set {name}"));
    let embeddings =
        StaticEmbeddings::read(file("SKILLGRAPH_WEIGHTS"), file("SKILLGRAPH_TOKENIZER")).expect("embeddings");
    let scorer = StaticScorer::new(embeddings);
    let skills: Value = serde_json::from_str(include_str!("../data/intents.json")).expect("JSON");
    let texts = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).expect("texts") };
    let skills = skills.as_object().expect("skills");
    let candidates: Vec<IntentCandidate> = skills
        .iter()
        .map(|(skill, said)| IntentCandidate {
            skill: skill.as_str().into(),
            intent: texts(&said["examples"])[0].clone(),
            examples: texts(&said["examples"]),
        })
        .collect();
    let (mut found, mut all) = (0, 0);
    for (wanted, said) in skills {
        for message in texts(&said["messages"]) {
            let scores = scorer.score(ScoreRequest { message, candidates: candidates.clone() }).await.expect("scores");
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).expect("a best");
            found += usize::from(candidates[best].skill == *wanted.as_str());
            all += 1;
        }
    }
    println!("{found} of {all}");
    assert!(all == 24 && found >= 20, "{found} of {all}");
}
