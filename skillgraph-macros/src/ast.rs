//! A graph as it was written, mistakes and all: names are not resolved, lists may be empty, fields may be missing.

use std::num::NonZeroU32;

use proc_macro2::{Ident, Span, TokenStream};
use skillgraph_core::decl::{
    GovernorLimits, GuardOperator, Lints, Literal, OnSkip, OnUnfinished, Scope, ScorerKind, StatusSet, Surface,
};
use skillgraph_core::score::ScorePolicy;
use skillgraph_core::{ModelTier, SkillPolicy};
use syn::ext::IdentExt;
use syn::{Attribute, LitStr, Path, Type, Visibility};

use crate::files::File;

/// A name of the graph: how the author spelt it, and the identifier that stands for it in the generated module.
#[derive(Clone)]
pub(crate) struct Name {
    /// Without `r#`.
    pub(crate) text: String,
    /// The author's own token, made raw where it is a keyword.
    pub(crate) ident: Ident,
}

/// What a name must never be: Rust has no raw form of these.
const NEVER_NAMES: [&str; 5] = ["self", "Self", "super", "crate", "_"];

impl Name {
    /// The name of a token; a keyword becomes raw.
    pub(crate) fn new(token: &Ident, is_keyword: bool) -> Self {
        let text = token.unraw().to_string();
        let ident = if NEVER_NAMES.contains(&text.as_str()) {
            Ident::new(&format!("__{}", text.trim_start_matches('_')), token.span())
        } else if is_keyword {
            Ident::new_raw(&text, token.span())
        } else {
            token.clone()
        };
        Name { text, ident }
    }

    /// Whether Rust has no raw form of it. Such a name is refused; another identifier stands in for it.
    pub(crate) fn is_never_a_name(&self) -> bool {
        NEVER_NAMES.contains(&self.text.as_str())
    }

    pub(crate) fn span(&self) -> Span {
        self.ident.span()
    }
}

/// What stands before an item.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) lints: Lints,
}

pub(crate) struct Graph {
    pub(crate) attributes: Attributes,
    pub(crate) vis: Visibility,
    pub(crate) name: Name,
    pub(crate) tools: Vec<Tool>,
    pub(crate) baseline: Vec<Name>,
    /// There is a baseline that could not be read.
    pub(crate) baseline_unread: bool,
    pub(crate) skills: Vec<Skill>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) routes: Vec<Route>,
    pub(crate) never_routes: Option<Texts>,
    pub(crate) classify: Option<Classify>,
    pub(crate) governor: Option<Governor>,
    pub(crate) catalog: Option<Catalog>,
    pub(crate) tree: Option<Tree>,
    /// Where a tree stands that could not be read.
    pub(crate) unread_tree: Option<Span>,
    /// How many of the routes, the last ones, stand in files.
    pub(crate) file_routes: usize,
}

impl Graph {
    pub(crate) fn catalog_skills(&self) -> impl Iterator<Item = &CatalogSkill> {
        self.catalog.iter().flat_map(|catalog| &catalog.skills)
    }
}

pub(crate) struct Governor {
    pub(crate) span: Span,
    pub(crate) limits: GovernorLimits,
    pub(crate) then: Then,
}

pub(crate) struct Catalog {
    pub(crate) span: Span,
    pub(crate) policy: SkillPolicy,
    pub(crate) skills: Vec<CatalogSkill>,
}

pub(crate) struct CatalogSkill {
    pub(crate) attributes: Attributes,
    pub(crate) ident: Name,
    pub(crate) key: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) header: Option<LitStr>,
    pub(crate) prompt: Option<LitStr>,
    pub(crate) tools: Vec<Name>,
    pub(crate) default_bind: Option<Names>,
    pub(crate) available: Option<Path>,
    pub(crate) min_model_tier: Option<ModelTier>,
    pub(crate) needs_sandbox: bool,
    /// Some of it could not be read: what seems to be missing may be there.
    pub(crate) broken: bool,
}

pub(crate) enum Then {
    Stop,
    Warn,
    Escalate(LitStr),
}

pub(crate) struct Tree {
    pub(crate) span: Span,
    pub(crate) root: Branch,
}

pub(crate) enum Branch {
    Leaf(Name),
    Fork(Box<Fork>),
}

pub(crate) struct Fork {
    pub(crate) span: Span,
    pub(crate) condition: Condition,
    pub(crate) then: Branch,
    pub(crate) otherwise: Option<Branch>,
}

impl Branch {
    /// The skills of the tree, in the order of the source.
    pub(crate) fn leaves(&self) -> Vec<&Name> {
        match self {
            Branch::Leaf(skill) => vec![skill],
            Branch::Fork(fork) => std::iter::once(&fork.then).chain(&fork.otherwise).flat_map(Branch::leaves).collect(),
        }
    }

    /// The conditions of the tree, in the order of the source.
    pub(crate) fn conditions(&self) -> Vec<&Condition> {
        match self {
            Branch::Leaf(_) => Vec::new(),
            Branch::Fork(fork) => {
                let branches = std::iter::once(&fork.then).chain(&fork.otherwise);
                std::iter::once(&fork.condition).chain(branches.flat_map(Branch::conditions)).collect()
            }
        }
    }
}

pub(crate) struct Classify {
    pub(crate) span: Span,
    pub(crate) scorer: ScorerKind,
    pub(crate) policy: ScorePolicy,
}

pub(crate) struct Tool {
    pub(crate) attributes: Attributes,
    pub(crate) ident: Name,
    pub(crate) name: Option<LitStr>,
    pub(crate) kind: ToolKind,
}

impl Tool {
    /// Whether the compiler knows its type.
    pub(crate) fn is_typed(&self) -> bool {
        matches!(self.kind, ToolKind::Typed(_))
    }
}

pub(crate) enum ToolKind {
    Typed(Box<Type>),
    Dyn,
}

pub(crate) struct Skill {
    pub(crate) attributes: Attributes,
    pub(crate) ident: Name,
    pub(crate) id: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) body: Option<Body>,
    pub(crate) tools: Vec<Name>,
    pub(crate) steps: Option<Steps>,
    pub(crate) on_skip: Option<(OnSkip, Span)>,
    pub(crate) on_unfinished: Option<(OnUnfinished, Span)>,
    pub(crate) scope: Scope,
    pub(crate) surface: Option<(Surface, Span)>,
    pub(crate) refresh: Option<(NonZeroU32, Span)>,
    pub(crate) produces: Option<Names>,
    pub(crate) consumes: Option<Names>,
    /// Some of it could not be read: what seems to be missing may be there.
    pub(crate) broken: bool,
    /// The file that says all of it.
    pub(crate) file: Option<File>,
}

pub(crate) enum Body {
    Inline(LitStr),
    /// The path inside `include_str!(…)`.
    Included(LitStr),
}

pub(crate) struct Steps {
    pub(crate) span: Span,
    pub(crate) list: Vec<Step>,
}

pub(crate) struct Step {
    pub(crate) tool: Name,
    pub(crate) note: LitStr,
    pub(crate) produces: Option<Names>,
    pub(crate) consumes: Option<Names>,
}

pub(crate) struct Entry {
    pub(crate) lints: Lints,
    pub(crate) skill: Name,
    pub(crate) condition: Option<Condition>,
    pub(crate) examples: Option<Texts>,
    pub(crate) never_picked: Option<Span>,
    pub(crate) label: Option<LitStr>,
}

pub(crate) enum Condition {
    Matches(LitStr),
    Keywords {
        span: Span,
        list: Vec<LitStr>,
    },
    All {
        span: Span,
        list: Vec<Condition>,
    },
    Closure(Closure),
    Intent {
        intent: LitStr,
        examples: Texts,
    },
    Picked(Span),
    /// It could not be read: an entry without one would be the default.
    Unread(Span),
}

/// `|param| body`, the body kept as tokens: rustc says what is wrong with it.
pub(crate) struct Closure {
    pub(crate) bar: Span,
    pub(crate) param: TokenStream,
    pub(crate) body: TokenStream,
}

pub(crate) struct Route {
    pub(crate) lints: Lints,
    pub(crate) from: Name,
    pub(crate) to: Name,
    pub(crate) trigger: Trigger,
    pub(crate) label: Option<LitStr>,
    /// Its trigger or label could not be read.
    pub(crate) broken: bool,
}

pub(crate) enum Trigger {
    Pick,
    Returns { tools: TriggerTools, statuses: Option<StatusSet>, guard: Vec<Term>, closure: Option<Closure> },
    Closure(Closure),
}

/// One term of a guard.
pub(crate) struct Term {
    pub(crate) path: Vec<Name>,
    /// `.len()` behind the path.
    pub(crate) length: Option<Ident>,
    pub(crate) operator: GuardOperator,
    pub(crate) values: Vec<Literal>,
    pub(crate) consts: Vec<syn::Path>,
    pub(crate) values_span: Span,
}

/// Texts in square brackets.
pub(crate) struct Texts {
    pub(crate) span: Span,
    pub(crate) list: Vec<LitStr>,
}

/// Names in square brackets.
pub(crate) struct Names {
    pub(crate) span: Span,
    pub(crate) list: Vec<Name>,
}

impl TriggerTools {
    /// The tools that are named; none for `any`.
    pub(crate) fn named(&self) -> &[Name] {
        match self {
            TriggerTools::One(name) => std::slice::from_ref(name),
            TriggerTools::AnyOf { list, .. } => list,
            TriggerTools::Any { .. } => &[],
        }
    }
}

pub(crate) enum TriggerTools {
    One(Name),
    AnyOf { span: Span, list: Vec<Name> },
    Any { span: Span },
}
