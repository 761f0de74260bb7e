//! Who may see which skill and run which tool.
// SPEC 9.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::turn::{Capability, Check, Decision, Target};
use tokio::task::JoinSet;

use crate::tool::BoxFuture;

/// Decides what somebody may do. An agent with one asks it which skills a conversation may see, at the start of every turn and
/// whenever one is resumed, and before every call of a tool.
///
/// It fails closed: an error, a panic, and no answer in time each count as a no. Checks of one moment are asked at the same
/// time.
///
/// ```
/// use skillgraph_core::turn::{Capability, Decision, Target};
/// use skillgraph_runtime::{Authorizer, AuthorizerError, Identity};
///
/// /// Nobody refunds more than 500 without being a manager.
/// struct Ceiling;
///
/// impl Authorizer for Ceiling {
///     async fn check(&self, _: &Capability, target: &Target, who: &Identity) -> Result<Decision, AuthorizerError> {
///         Ok(match target {
///             Target::Call { tool, arguments, .. } if *tool == "issue_refund" => match arguments["amount"].as_u64() {
///                 Some(amount) if amount <= 500 || who.has_role("manager") => Decision::Allowed,
///                 _ => Decision::denied("only a manager refunds more than 500"),
///             },
///             _ => Decision::Allowed,
///         })
///     }
/// }
/// ```
pub trait Authorizer: Send + Sync + 'static {
    /// Whether `who` may do that to the target.
    ///
    /// # Errors
    ///
    /// [`AuthorizerError`] where it cannot tell; that counts as a no.
    fn check(
        &self,
        capability: &Capability,
        target: &Target,
        who: &Identity,
    ) -> impl Future<Output = Result<Decision, AuthorizerError>> + Send;
}

crate::error::reason! {
    /// Why an authorizer cannot tell.
    AuthorizerError
}

/// Whom a conversation is with. It is never saved with the conversation: whoever restores one says who it is.
///
/// ```
/// use skillgraph_runtime::Identity;
///
/// let ada = Identity::new("ada").role("clerk").attribute("tenant", "acme");
/// assert!(ada.has_role("clerk"));
/// assert_eq!(ada.attribute_of("tenant"), Some("acme"));
/// assert_eq!(Identity::default().subject(), "");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    subject: String,
    roles: BTreeSet<String>,
    attributes: BTreeMap<String, String>,
}

impl Identity {
    /// Somebody, by the name that the host has for them.
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), ..Self::default() }
    }

    /// Gives them a role.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.roles.insert(role.into());
        self
    }

    /// Says something else of them.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }

    /// The name that the host has for them; empty for nobody in particular.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Their roles, in the order of the alphabet.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }

    /// Whether they have a role.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.contains(role)
    }

    /// What else is said of them.
    pub fn attribute_of(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }
}

/// Decides by roles: what one of somebody's roles grants, they may do. Nobody else may do anything.
///
/// Take names from the constants of the generated module, and a misspelt one does not compile.
///
/// ```
/// use skillgraph_runtime::{Role, RoleAuthorizer};
///
/// # mod support {
/// #     pub mod skill { pub const triage: &str = "triage"; pub const orders: &str = "orders"; }
/// #     pub mod tool { pub const lookup_order: &str = "lookup_order"; }
/// # }
/// let roles = RoleAuthorizer::new()
///     .role("manager", Role::everything())
///     .role("clerk", Role::new().skills([support::skill::triage, support::skill::orders]).tools([support::tool::lookup_order]));
/// # let _ = roles;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleAuthorizer {
    roles: BTreeMap<String, Role>,
}

/// What a role grants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Role {
    skills: Grant,
    tools: Grant,
    capabilities: Grant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Grant {
    All,
    Some(BTreeSet<String>),
}

impl Default for Grant {
    fn default() -> Self {
        Grant::Some(BTreeSet::new())
    }
}

impl Grant {
    fn add(&mut self, names: impl IntoIterator<Item = impl Display>) {
        if let Grant::Some(granted) = self {
            granted.extend(names.into_iter().map(|name| name.to_string()));
        }
    }

    fn covers(&self, name: &str) -> bool {
        match self {
            Grant::All => true,
            Grant::Some(names) => names.contains(name),
        }
    }
}

impl Role {
    /// A role that grants nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A role that grants all.
    pub fn everything() -> Self {
        Self { skills: Grant::All, tools: Grant::All, capabilities: Grant::All }
    }

    /// Grants these skills: `skill_read`.
    #[must_use]
    pub fn skills(mut self, ids: impl IntoIterator<Item = impl Display>) -> Self {
        self.skills.add(ids);
        self
    }

    /// Grants every skill.
    #[must_use]
    pub fn all_skills(mut self) -> Self {
        self.skills = Grant::All;
        self
    }

    /// Grants these tools, where they are offered: `tool_call`.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Display>) -> Self {
        self.tools.add(names);
        self
    }

    /// Grants every tool that is offered. What tools declare that they need is granted on its own.
    #[must_use]
    pub fn all_tools(mut self) -> Self {
        self.tools = Grant::All;
        self
    }

    /// Grants capabilities that tools declare.
    #[must_use]
    pub fn capabilities(mut self, names: impl IntoIterator<Item = impl Display>) -> Self {
        self.capabilities.add(names);
        self
    }

    fn grants(&self, capability: &Capability, target: &Target) -> bool {
        match (capability, target) {
            (Capability::SkillRead, Target::Skill(skill)) => self.skills.covers(skill.as_str()),
            (Capability::ToolCall, Target::Call { tool, .. }) => self.tools.covers(tool.as_str()),
            (Capability::Declared(name), _) => self.capabilities.covers(name),
            _ => false,
        }
    }
}

impl RoleAuthorizer {
    /// One that knows no role.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what a role grants.
    #[must_use]
    pub fn role(mut self, name: impl Into<String>, role: Role) -> Self {
        self.roles.insert(name.into(), role);
        self
    }
}

impl Authorizer for RoleAuthorizer {
    async fn check(
        &self,
        capability: &Capability,
        target: &Target,
        who: &Identity,
    ) -> Result<Decision, AuthorizerError> {
        let mut granted = who.roles().filter_map(|role| self.roles.get(role));
        if granted.any(|role| role.grants(capability, target)) {
            return Ok(Decision::Allowed);
        }
        Ok(Decision::denied(format!("no role of the user grants {capability}")))
    }
}

/// An authorizer whose future is boxed.
pub(crate) trait AnyAuthorizer: Send + Sync {
    fn check_boxed(self: Arc<Self>, check: Check, who: Arc<Identity>) -> BoxFuture<Result<Decision, AuthorizerError>>;
}

impl<A: Authorizer> AnyAuthorizer for A {
    fn check_boxed(self: Arc<Self>, check: Check, who: Arc<Identity>) -> BoxFuture<Result<Decision, AuthorizerError>> {
        Box::pin(async move { self.check(&check.capability, &check.target, &who).await })
    }
}

/// Asks all at the same time. One decision a check, in their order; whatever is not a yes is a no.
pub(crate) async fn decide_all(
    authorizer: &Arc<dyn AnyAuthorizer>,
    timeout: Duration,
    who: &Arc<Identity>,
    checks: Vec<Check>,
) -> Vec<Decision> {
    let mut decisions = vec![Decision::denied("the authorizer failed unexpectedly"); checks.len()];
    let mut tasks = JoinSet::new();
    for (at, check) in checks.into_iter().enumerate() {
        let asked = authorizer.clone().check_boxed(check, who.clone());
        tasks.spawn(async move {
            let asked_at = tokio::time::Instant::now();
            let answered = tokio::time::timeout(timeout, asked).await;
            // One that blocks its thread is not interrupted: what it says too late counts as not said.
            (at, answered.ok().filter(|_| asked_at.elapsed() <= timeout))
        });
    }
    while let Some(joined) = tasks.join_next().await {
        // One that panicked stays denied.
        let Ok((at, answered)) = joined else { continue };
        let decision = match answered {
            Some(Ok(decision)) => decision,
            Some(Err(error)) => Decision::denied(format!("the authorizer could not tell: {error}")),
            None => Decision::denied(format!("the authorizer did not answer within {} seconds", timeout.as_secs_f64())),
        };
        if let Some(slot) = decisions.get_mut(at) {
            *slot = decision;
        }
    }
    decisions
}
