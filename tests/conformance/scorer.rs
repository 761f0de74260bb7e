//! `scorer.json`: what the keyword scorer says of messages, and what scores decide.

use serde_json::Value;
use skillgraph::core::score::{ScorePolicy, ScoreVerdict, ScorerTraits, intent_words, judge, keyword_score, words};

use crate::translate::list;
use crate::{Difference, Seen};

const TOLERANCE: f64 = 1e-12;

pub fn compare(case: &Value) -> Vec<Seen<'_>> {
    let message = words(case["message"].as_str().unwrap_or_default());
    let candidates = list(case, "candidates");
    let scores: Vec<f64> = match case["kind"].as_str() {
        Some("entry") => candidates
            .iter()
            .map(|candidate| keyword_score(&message, &words(text(&candidate["description"]))))
            .collect(),
        Some("intent") => {
            let of = |candidate: &Value| {
                keyword_score(
                    &message,
                    &intent_words(text(&candidate["intent"]), list(candidate, "examples").iter().map(text)),
                )
            };
            candidates.iter().map(of).collect()
        }
        _ => list(case, "scores").iter().map(|score| number(&score["score"])).collect(),
    };
    let mut differences = Vec::new();
    for (expected, ours) in list(&case["expect"], "scores").iter().zip(&scores) {
        let expected = number(&expected["score"]);
        if (expected - ours).abs() > TOLERANCE {
            differences.push(Difference::new("score", expected, ours));
        }
    }
    if case["kind"] != "entry" && differences.is_empty() {
        differences.extend(verdict_differences(case, &scores));
    }
    differences.into_iter().map(|difference| Seen { case, step: None, difference }).collect()
}

fn verdict_differences(case: &Value, scores: &[f64]) -> Vec<Difference> {
    let ids: Vec<&str> = match case["kind"].as_str() {
        Some("intent") => list(case, "candidates").iter().map(|candidate| text(&candidate["id"])).collect(),
        _ => list(case, "scores").iter().map(|score| text(&score["id"])).collect(),
    };
    // An incumbent that is no candidate has no position: it stays where nothing is decided.
    let incumbent =
        case["incumbent"].as_str().map(|id| ids.iter().position(|other| *other == id).unwrap_or(usize::MAX));
    let policy = &case["policy"];
    let policy = ScorePolicy {
        margin: policy["near_tie_margin"].as_f64().unwrap_or(ScorePolicy::DEFAULT.margin),
        menu: policy["menu_size"].as_u64().map_or(ScorePolicy::DEFAULT.menu, |size| size as usize),
        floor: policy["floor"].as_f64(),
    };
    let traits = match case["kind"].as_str() {
        Some("intent") => ScorerTraits::KEYWORD,
        _ => ScorerTraits {
            floor: case["scorer_floor"].as_f64(),
            categorical: case["categorical"].as_bool().unwrap_or_default(),
        },
    };
    let judgement = judge(scores, incumbent, &policy, traits);
    let id = |at: usize| ids.get(at).copied().unwrap_or("?");
    let ours = match &judgement.verdict {
        ScoreVerdict::Move(at) => format!("move {}", id(*at)),
        ScoreVerdict::Stay => "stay".to_owned(),
        ScoreVerdict::Menu(offered) => {
            format!("menu {}", offered.iter().map(|at| id(*at)).collect::<Vec<_>>().join(" "))
        }
        ScoreVerdict::Unmatched => "unmatched".to_owned(),
    };
    let verdict = &case["expect"]["verdict"];
    let expected = match text(&verdict["kind"]) {
        "move" => format!("move {}", text(&verdict["to"])),
        "menu" => format!("menu {}", list(verdict, "offered").iter().map(text).collect::<Vec<_>>().join(" ")),
        other => other.to_owned(),
    };
    let mut differences = Vec::new();
    if expected != ours {
        differences.push(Difference::new("verdict", expected, ours));
    }
    for (expected, ours) in list(verdict, "ranked").iter().zip(&judgement.ranked) {
        let relevance = number(&expected["relevance"]);
        if text(&expected["id"]) != id(ours.candidate) || (relevance - ours.relevance).abs() > TOLERANCE {
            differences.push(Difference::new("ranked", expected, format!("{} {}", id(ours.candidate), ours.relevance)));
        }
    }
    let runner_up = &verdict["runner_up"];
    let same = match (runner_up["id"].as_str(), judgement.runner_up) {
        (None, None) => true,
        (Some(expected), Some((at, gap))) => expected == id(at) && (number(&runner_up["gap"]) - gap).abs() <= TOLERANCE,
        _ => false,
    };
    if !same {
        differences.push(Difference::new("runner_up", runner_up, format!("{:?}", judgement.runner_up)));
    }
    differences
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        Some(_) => f64::NAN,
        None => value.as_f64().unwrap_or_default(),
    }
}
