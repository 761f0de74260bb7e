//! What the loop asks the skills of a catalog: all of one moment at the same time, and no answer is a no.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;

use skillgraph_core::decl::SkillId;
use skillgraph_core::turn::{Capability, CatalogAnswer, CatalogQuestion, CatalogTool, Check, Decision, Target};
use tokio::task::JoinSet;

use super::{BoundTools, CatalogSkillError};
use crate::authorize::{Identity, decide_all};
use crate::parts::Parts;
use crate::task;
use crate::tool::{BoundTool, BoxFuture, DynTool};

/// Answers what a turn asks of the catalog: all questions at the same time, one answer each.
pub(crate) async fn answer(
    parts: &Parts,
    identity: &Arc<Identity>,
    questions: Vec<CatalogQuestion>,
    bound: &mut BoundTools,
) -> Vec<CatalogAnswer> {
    let failed = || CatalogAnswer::Failed { reason: "it failed unexpectedly".into() };
    let denied = denied(parts, identity, &questions).await;
    let mut answers: Vec<CatalogAnswer> = questions.iter().map(|_| failed()).collect();
    let mut tasks = JoinSet::new();
    for (at, question) in questions.into_iter().enumerate() {
        if let Some(reason) = denied.get(&at) {
            if let Some(slot) = answers.get_mut(at) {
                *slot = CatalogAnswer::Unavailable { reason: reason.clone() };
            }
            continue;
        }
        let asked = ask(parts, question);
        let timeout = parts.catalog.timeout;
        tasks.spawn(async move { (at, tokio::time::timeout(timeout, asked).await) });
    }
    while let Some(joined) = tasks.join_next().await {
        // One that panicked has failed.
        let Ok((at, answered)) = joined else { continue };
        let answer = match answered {
            Ok((answer, tools)) => {
                bound.extend(tools.into_iter().map(|tool| (tool.spec.name.to_string(), Arc::new(tool))));
                answer
            }
            Err(_) => {
                let seconds = parts.catalog.timeout.as_secs_f64();
                CatalogAnswer::Failed { reason: format!("it did not answer within {seconds} seconds") }
            }
        };
        if let Some(slot) = answers.get_mut(at) {
            *slot = answer;
        }
    }
    answers
}

/// The questions about skills that whoever the conversation is with may not see, with why.
// SPEC 9.
async fn denied(parts: &Parts, identity: &Arc<Identity>, questions: &[CatalogQuestion]) -> HashMap<usize, String> {
    let Some(authorizer) = &parts.authorizer else { return HashMap::new() };
    let asked = questions.iter().enumerate().filter_map(|(at, question)| match question {
        CatalogQuestion::Available { key } => Some((at, key)),
        _ => None,
    });
    let (places, checks): (Vec<usize>, Vec<Check>) = asked
        .map(|(at, key)| {
            let target = Target::Skill(SkillId::from(key.as_str()));
            (at, Check { capability: Capability::SkillRead, target })
        })
        .unzip();
    let decisions = decide_all(authorizer, parts.authorizer_timeout, identity, checks).await;
    let denied = places.into_iter().zip(decisions).filter_map(|(at, decision)| match decision {
        Decision::Allowed => None,
        Decision::Denied { reason } => Some((at, reason)),
    });
    denied.collect()
}

/// Asks one skill. The answer, and the tools that it bound.
fn ask(parts: &Parts, question: CatalogQuestion) -> BoxFuture<(CatalogAnswer, Vec<BoundTool>)> {
    let skill = |key: &str| parts.catalog.by_key.get(key).cloned();
    let no_skill = || -> BoxFuture<(CatalogAnswer, Vec<BoundTool>)> {
        Box::pin(ready((CatalogAnswer::Failed { reason: "there is no such skill".into() }, Vec::new())))
    };
    let failed = |error: CatalogSkillError| (CatalogAnswer::Failed { reason: error.to_string() }, Vec::new());
    match question {
        CatalogQuestion::Available { key } => {
            let Some(skill) = skill(&key) else { return no_skill() };
            Box::pin(async move {
                let answer = match skill.is_available_boxed().await {
                    Ok(true) => CatalogAnswer::Available,
                    Ok(false) => CatalogAnswer::Unavailable { reason: "it says that it is not there".into() },
                    Err(error) => CatalogAnswer::Failed { reason: error.to_string() },
                };
                (answer, Vec::new())
            })
        }
        CatalogQuestion::Open { key, query, tools } => {
            let Some(skill) = skill(&key) else { return no_skill() };
            let entry = parts.setup.catalog.as_ref().and_then(|catalog| catalog.find(&key));
            let index = entry.map_or(Vec::new(), |entry| entry.tools.clone());
            Box::pin(async move {
                match skill.open_boxed(query, index, tools.clone()).await {
                    Ok(opened) => {
                        let (told, bound) = bind(opened.tools, &tools);
                        (CatalogAnswer::Opened { prompt: opened.prompt, ranked: opened.ranked, tools: told }, bound)
                    }
                    Err(error) => failed(error),
                }
            })
        }
        CatalogQuestion::Bind { key, tools } => {
            let Some(skill) = skill(&key) else { return no_skill() };
            Box::pin(async move {
                match skill.bind_boxed(tools.clone()).await {
                    Ok(given) => {
                        let (told, bound) = bind(given, &tools);
                        (CatalogAnswer::Bound { tools: told }, bound)
                    }
                    Err(error) => failed(error),
                }
            })
        }
        _ => no_skill(),
    }
}

/// Of what a skill gave, the tools that were asked for and that a provider would take.
fn bind(given: Vec<DynTool>, asked: &[String]) -> (Vec<CatalogTool>, Vec<BoundTool>) {
    let given = given.into_iter().filter(|tool| asked.iter().any(|name| name == tool.name()));
    let bound = given.map(BoundTool::dynamic).filter(BoundTool::takes_an_object);
    bound
        .map(|tool| {
            let told = CatalogTool::new(Arc::new(tool.spec.clone()), tool.capabilities.clone());
            (told, tool)
        })
        .unzip()
}

/// The tool of a catalog's skill: as it was bound in this conversation, or bound anew.
pub(crate) async fn bound_tool(parts: &Parts, name: &str, bound: &mut BoundTools) -> Option<Arc<BoundTool>> {
    if let Some(tool) = bound.get(name) {
        return Some(tool.clone());
    }
    let key = parts.catalog.owner.get(name)?.clone();
    let asked = ask(parts, CatalogQuestion::Bind { key, tools: vec![name.to_owned()] });
    let asked = task::apart(tokio::time::timeout(parts.catalog.timeout, asked));
    let (_, tools) = asked.await.ok()?.ok()?;
    bound.extend(tools.into_iter().map(|tool| (tool.spec.name.to_string(), Arc::new(tool))));
    bound.get(name).cloned()
}
