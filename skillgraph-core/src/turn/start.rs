//! Where a turn starts: rules, then a scorer, then a menu; and what a pick may do while the menu stands.
// SPEC 4.

use serde::{Deserialize, Serialize};

use super::event::{RunnerUp, ScoreRecord, TurnRouted};
use super::machine::Turn;
use super::settle::Settlement;
use super::state::{Phase, State};
use super::{Event, Setup};
use crate::decide::{Evidence, Ruling, decide};
use crate::decl::{ScorerKind, SkillId};
use crate::graph::{Graph, Hidden, IntentEntry, SkillIx};
use crate::score::{Judgement, ScorePolicy, ScoreVerdict, ScorerTraits, judge, keyword_score, words};

/// What a pick of the model may do.
// SPEC 4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    /// Open any skill that can be reached: along a `~>` edge, an entry that may be picked, a skill that nothing leads to.
    #[default]
    Assist,
    /// Go along a `~>` edge, or open what the menu of the turn's start names, while it stands.
    Guard,
    /// Open none that would move the cursor.
    Rails,
}

/// What a turn takes over from the one before.
// SPEC 4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuity {
    /// Nothing: every turn starts where its own message leads.
    #[default]
    Turn,
    /// The skill that was open, and where its procedure stands. A rule and a decisive scorer beat it; where neither says anything,
    /// it stays open.
    Conversation,
}

/// A message to be scored against each of several intents. Answered by one score a candidate, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreRequest {
    /// The user's message.
    pub message: String,
    /// The candidates.
    pub candidates: Vec<IntentCandidate>,
}

/// What a message is scored against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentCandidate {
    /// The skill that it opens.
    pub skill: SkillId,
    /// What it is about.
    pub intent: String,
    /// Messages that mean it; none for the skill that is open already and has no intent.
    pub examples: Vec<String>,
}

/// What a scorer says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// What the scorer is called in records.
    pub scorer: String,
    /// One score a candidate, in their order; the higher, the better.
    pub scores: Vec<f64>,
    /// How they are to be read.
    pub traits: ScorerTraits,
}

/// A menu to be resolved before the model is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecideRequest {
    /// The user's message.
    pub message: String,
    /// What can be chosen.
    pub options: Vec<IntentCandidate>,
    /// The skill that is open already, where staying is a choice.
    pub stay: Option<SkillId>,
}

/// What a decider chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// This skill.
    Skill(SkillId),
    /// The skill that is open already.
    Stay,
    /// None of them: the menu stands.
    None,
}

/// A turn's start while somebody is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) message: String,
    /// The cursor of the last turn.
    pub(super) inherited: Option<SkillIx>,
    /// An inherited skill that the graph no longer has.
    dropped: Option<String>,
    scored: Option<Scored>,
    /// Why there are no scores, where there should be some.
    failed: Option<String>,
    /// What the menu names.
    offered: Vec<SkillIx>,
    /// What a decider chose.
    decided: Option<String>,
    /// Why it did not.
    not_decided: Option<String>,
}

/// What scores came to, for the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Scored {
    scorer: String,
    /// Best first: the score, none where it is no finite number, and the share.
    scores: Vec<(SkillIx, Option<f64>, f64)>,
    runner_up: Option<(SkillIx, f64)>,
    decisive: bool,
    floor: Option<f64>,
}

/// The skills that were too close, or all that there are, from which the model may pick.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Menu {
    pub(super) offered: Vec<SkillIx>,
    /// Staying is a choice.
    pub(super) stay: bool,
    /// Shares of those that were scored.
    pub(super) relevance: Vec<(SkillIx, f64)>,
}

impl Menu {
    /// The skills that it speaks of.
    pub(super) fn skills(&self) -> impl Iterator<Item = SkillIx> + '_ {
        self.offered.iter().copied().chain(self.relevance.iter().map(|(skill, _)| *skill))
    }
}

/// Where a pick may move the cursor: what the graph allows and the strictness leaves.
pub(super) fn hops(setup: &Setup, state: &State) -> Vec<SkillIx> {
    let mut hops = setup.graph.hops(state.cursor);
    hops.retain(|hop| !state.hidden.has(*hop));
    match setup.strictness {
        Strictness::Assist => hops,
        Strictness::Guard => {
            let offered = state.menu.as_ref().map_or(&[][..], |menu| &menu.offered);
            let along = setup.graph.model_edges(state.cursor);
            hops.into_iter().filter(|hop| offered.contains(hop) || along.contains(hop)).collect()
        }
        Strictness::Rails => Vec::new(),
    }
}

/// What a pick may name: where it may move the cursor, then the open skills that are not open yet.
pub(super) fn reachable(setup: &Setup, state: &State) -> Vec<SkillIx> {
    let mut reachable = hops(setup, state);
    let beside = setup.graph.open_skills().iter();
    reachable.extend(beside.filter(|skill| !state.hidden.has(**skill) && !state.opened.contains(skill)));
    reachable
}

impl Turn {
    /// Tries the rules, and asks whom it must.
    pub(super) fn route(&mut self, message: String, inherited: Option<&str>) {
        let graph = self.setup.graph.clone();
        // A tree goes by the message alone.
        let inherited = inherited.filter(|_| !graph.is_tree());
        // An open skill never holds the cursor: one that did was wired in another version of the graph.
        let hidden = self.state.hidden.clone();
        let known = |id: &str| graph.find_skill(id).filter(|skill| !graph.is_open(*skill) && !hidden.has(*skill));
        let found = inherited.map(|id| known(id).ok_or_else(|| id.to_owned()));
        let (inherited, dropped) = match found {
            None => (None, None),
            Some(Ok(skill)) => (Some(skill), None),
            Some(Err(id)) => (None, Some(id)),
        };
        let start = Start {
            message,
            inherited,
            dropped,
            scored: None,
            failed: None,
            offered: Vec::new(),
            decided: None,
            not_decided: None,
        };
        let has_intents = intents(&graph, &hidden).next().is_some();
        let all_from_rules = !has_intents && picked(&graph, &hidden).next().is_none();
        if all_from_rules || graph.match_entry_without(&start.message, &hidden).won.is_some() {
            return self.conclude(start, Ruling::Rules);
        }
        match graph.classify() {
            Some((ScorerKind::Keyword, _)) if has_intents => {
                let message = words(&start.message);
                let mut scores: Vec<f64> =
                    intents(&graph, &hidden).map(|intent| keyword_score(&message, &intent.words)).collect();
                if let Some(extra) = extra_candidate(&graph, start.inherited) {
                    scores.push(keyword_score(&message, &words(&extra.intent)));
                }
                self.scored(start, Scores { scorer: "keyword".into(), scores, traits: ScorerTraits::KEYWORD });
            }
            Some((ScorerKind::Host, _)) if has_intents => self.state.phase = Phase::Score(start),
            _ => self.offer_menu(start, None),
        }
    }

    /// Takes in scores. As many as candidates, or they say nothing.
    pub(super) fn scored(&mut self, mut start: Start, said: Scores) {
        let graph = self.setup.graph.clone();
        let candidates = candidates(&graph, &self.state.hidden, start.inherited);
        if said.scores.len() != candidates.len() {
            let (wanted, given) = (candidates.len(), said.scores.len());
            return self.not_scored(start, format!("{wanted} scores were asked for, and {given} came"));
        }
        let policy = graph.classify().map_or(ScorePolicy::DEFAULT, |(_, policy)| policy);
        let incumbent = start.inherited.and_then(|skill| candidates.iter().position(|candidate| *candidate == skill));
        let judgement = judge(&said.scores, incumbent, &policy, said.traits);
        start.scored = Some(Scored::of(&candidates, &judgement, said.scorer));
        let skills = |places: &[usize]| places.iter().filter_map(|at| candidates.get(*at).copied()).collect();
        match &judgement.verdict {
            ScoreVerdict::Move(at) => match candidates.get(*at) {
                Some(skill) => self.conclude(start, Ruling::Intent(*skill)),
                None => self.not_scored(start, "the best is none of the candidates".to_owned()),
            },
            ScoreVerdict::Stay => self.conclude(start, Ruling::Undecided),
            ScoreVerdict::Menu(close) => self.offer_menu(start, Some(skills(close))),
            ScoreVerdict::Unmatched => self.offer_menu(start, None),
        }
    }

    /// Nothing can be said by scores: who was somewhere stays there, who was nowhere chooses.
    pub(super) fn not_scored(&mut self, mut start: Start, reason: String) {
        start.failed = Some(reason);
        match start.inherited {
            Some(_) => self.conclude(start, Ruling::Undecided),
            None => self.offer_menu(start, None),
        }
    }

    /// Offers those that were too close, or all.
    fn offer_menu(&mut self, mut start: Start, close: Option<Vec<SkillIx>>) {
        let (graph, hidden) = (&self.setup.graph, &self.state.hidden);
        let all = || intents(graph, hidden).map(|intent| intent.skill).chain(picked(graph, hidden));
        let mut offered = close.unwrap_or_else(|| all().collect());
        offered.retain(|skill| Some(*skill) != start.inherited && graph.may_be_picked(*skill));
        start.offered = offered;
        if self.setup.decider && !start.offered.is_empty() {
            self.state.phase = Phase::Decide(start);
        } else {
            self.conclude(start, Ruling::Undecided);
        }
    }

    /// Takes in what a decider chose; what it may not choose is no choice.
    pub(super) fn decided(&mut self, mut start: Start, choice: Choice) {
        let graph = self.setup.graph.clone();
        let skill = match &choice {
            Choice::Skill(id) => graph.find_skill(id.as_str()).filter(|skill| start.offered.contains(skill)),
            Choice::Stay | Choice::None => None,
        };
        match (choice, skill) {
            (Choice::Skill(id), Some(skill)) => {
                start.decided = Some(id.to_string());
                self.conclude(start, Ruling::Decider(skill));
            }
            (Choice::Stay, _) if start.inherited.is_some() => {
                start.decided = Some("stay".to_owned());
                start.offered.clear();
                self.conclude(start, Ruling::Undecided);
            }
            _ => self.conclude(start, Ruling::Undecided),
        }
    }

    /// Nobody chose: the menu is left to the model.
    pub(super) fn not_decided(&mut self, mut start: Start, reason: String) {
        start.not_decided = Some(reason);
        self.conclude(start, Ruling::Undecided);
    }

    /// Decides, records, and opens the first iteration.
    fn conclude(&mut self, start: Start, ruling: Ruling) {
        let graph = self.setup.graph.clone();
        let hidden = &self.state.hidden;
        let evidence = Evidence::TurnStart { message: &start.message, ruling };
        let mut decision = decide(&graph, hidden, start.inherited, evidence);
        let dropped = start.dropped.as_ref().and_then(|id| graph.find_skill(id));
        decision.hidden.extend(dropped.filter(|skill| hidden.has(*skill)));
        let is_routed = start.scored.is_some()
            || start.failed.is_some()
            || !start.offered.is_empty()
            || start.inherited.is_some()
            || start.dropped.is_some()
            || graph.classify().is_some();
        let stands = ruling == Ruling::Undecided && !start.offered.is_empty();
        if is_routed {
            let id = |skill: SkillIx| graph.skill_id(skill);
            let scored = start.scored.as_ref();
            self.emit(Event::TurnRouted(TurnRouted {
                from: start.inherited.map(id),
                to: decision.to.map(id),
                by: decision.by,
                scorer: scored.map(|scored| scored.scorer.clone()),
                scores: scored.map(|scored| scored.records(&graph)).unwrap_or_default(),
                runner_up: scored
                    .and_then(|scored| scored.runner_up)
                    .map(|(skill, gap)| RunnerUp { skill: id(skill), gap }),
                decisive: start.failed.is_none() && scored.is_none_or(|scored| scored.decisive),
                scorer_failed: start.failed.clone(),
                policy: graph.classify().map(|(_, policy)| ScorePolicy {
                    floor: scored.map_or(policy.floor, |scored| scored.floor),
                    ..policy
                }),
                offered: start.offered.iter().copied().map(id).collect(),
                stay_offered: !start.offered.is_empty() && start.inherited.is_some(),
                witness: decision.witness.clone(),
                dropped: start.dropped.clone(),
                decider: start.decided.clone(),
                decider_failed: start.not_decided.clone(),
            }));
        }
        let relevance = start.scored.iter().flat_map(|scored| &scored.scores).map(|(skill, _, share)| (*skill, *share));
        let menu =
            Menu { offered: start.offered.clone(), stay: start.inherited.is_some(), relevance: relevance.collect() };
        // On rails nothing can be picked: a menu would offer what is refused.
        let menu = Some(menu).filter(|_| stands && self.setup.strictness != Strictness::Rails);
        self.begin_first_iteration(&decision, menu, &Settlement::default());
    }
}

impl Start {
    /// Whether it speaks of a skill that is hidden.
    pub(super) fn names_hidden(&self, hidden: &Hidden) -> bool {
        self.skills().any(|skill| hidden.has(skill))
    }

    /// The skills that it speaks of.
    pub(super) fn skills(&self) -> impl Iterator<Item = SkillIx> + '_ {
        let scored = self.scored.iter().flat_map(|scored| &scored.scores).map(|(skill, ..)| *skill);
        self.inherited.into_iter().chain(self.offered.iter().copied()).chain(scored)
    }

    /// The skill of the last turn as its host named it.
    pub(super) fn inherited_id(&self, graph: &Graph) -> Option<String> {
        self.inherited.map(|skill| graph.skill_id(skill).to_string()).or_else(|| self.dropped.clone())
    }

    /// The question for a scorer.
    pub(super) fn score_request(&self, graph: &Graph, hidden: &Hidden) -> ScoreRequest {
        let candidates = intents(graph, hidden).map(|intent| IntentCandidate {
            skill: graph.skill_id(intent.skill),
            intent: intent.intent.clone(),
            examples: intent.examples.clone(),
        });
        let candidates = candidates.chain(extra_candidate(graph, self.inherited));
        ScoreRequest { message: self.message.clone(), candidates: candidates.collect() }
    }

    /// The question for a decider.
    pub(super) fn decide_request(&self, graph: &Graph) -> DecideRequest {
        let option = |skill: &SkillIx| {
            let intent = graph.intents().iter().find(|intent| intent.skill == *skill);
            let description = || graph.skill(*skill).map_or(String::new(), |skill| skill.description.clone());
            IntentCandidate {
                skill: graph.skill_id(*skill),
                intent: intent.map_or_else(description, |intent| intent.intent.clone()),
                examples: intent.map(|intent| intent.examples.clone()).unwrap_or_default(),
            }
        };
        DecideRequest {
            message: self.message.clone(),
            options: self.offered.iter().map(option).collect(),
            stay: self.inherited.map(|skill| graph.skill_id(skill)),
        }
    }
}

/// The entries that a scorer opens, as far as they can be seen.
fn intents<'a>(graph: &'a Graph, hidden: &'a Hidden) -> impl Iterator<Item = &'a IntentEntry> + 'a {
    graph.intents().iter().filter(|intent| !hidden.has(intent.skill))
}

/// The skills that only a menu opens, as far as they can be seen.
fn picked<'a>(graph: &'a Graph, hidden: &'a Hidden) -> impl Iterator<Item = SkillIx> + 'a {
    graph.picked().iter().copied().filter(|skill| !hidden.has(*skill))
}

/// The skills that are scored, in order: those of intents, then the one that is open already.
fn candidates(graph: &Graph, hidden: &Hidden, inherited: Option<SkillIx>) -> Vec<SkillIx> {
    let mut candidates: Vec<SkillIx> = intents(graph, hidden).map(|intent| intent.skill).collect();
    candidates.extend(without_intent(graph, inherited));
    candidates
}

/// The skill that is open already, where it has no intent.
fn without_intent(graph: &Graph, inherited: Option<SkillIx>) -> Option<SkillIx> {
    inherited.filter(|skill| graph.intents().iter().all(|intent| intent.skill != *skill))
}

/// The same as a scorer reads it: by its description.
fn extra_candidate(graph: &Graph, inherited: Option<SkillIx>) -> Option<IntentCandidate> {
    let skill = without_intent(graph, inherited)?;
    let intent = graph.skill(skill)?.description.clone();
    Some(IntentCandidate { skill: graph.skill_id(skill), intent, examples: Vec::new() })
}

impl Scored {
    fn of(candidates: &[SkillIx], judgement: &Judgement, scorer: String) -> Self {
        let skill = |at: usize| candidates.get(at).copied();
        let finite = |score: f64| Some(score).filter(|score| score.is_finite());
        let ranked = judgement.ranked.iter();
        Scored {
            scorer,
            scores: ranked
                .filter_map(|ranked| Some((skill(ranked.candidate)?, finite(ranked.score), ranked.relevance)))
                .collect(),
            runner_up: judgement.runner_up.and_then(|(at, gap)| Some((skill(at)?, gap))),
            decisive: judgement.decisive,
            floor: judgement.floor,
        }
    }

    fn records(&self, graph: &Graph) -> Vec<ScoreRecord> {
        let record = |(skill, score, relevance): &(SkillIx, Option<f64>, f64)| ScoreRecord {
            skill: graph.skill_id(*skill),
            score: *score,
            relevance: *relevance,
        };
        self.scores.iter().map(record).collect()
    }
}
