//! What a tool says when it returns.

use std::fmt::Display;

use serde::Serialize;
use skillgraph_core::decl::{SkillId, Status};
use skillgraph_core::turn::Proposal;

/// A tool's answer: its status, its output or its words, and where it would go next.
///
/// A plain output is a success; `.into()` makes one.
///
/// ```
/// use skillgraph_runtime::ToolReply;
///
/// let found: ToolReply<u32> = 42.into();
/// let nothing: ToolReply<u32> = ToolReply::absent("no order has that number");
/// let first_page = ToolReply::partial(vec!["a", "b"]);
/// # let _ = (found, nothing, first_page);
/// ```
// SPEC 3.3, 14.2.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply<T> {
    pub(crate) status: Status,
    pub(crate) content: Content<T>,
    pub(crate) proposal: Option<Proposal>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content<T> {
    Output(T),
    Words(String),
}

impl<T> ToolReply<T> {
    /// The tool did what it was called for.
    pub fn success(output: T) -> Self {
        Self::new(Status::Success, Content::Output(output))
    }

    /// The tool did a part of it. Counts as done, for edges and steps.
    pub fn partial(output: T) -> Self {
        Self::new(Status::Partial, Content::Output(output))
    }

    /// The tool looked and found nothing. An edge that waits for the tool does not fire, a step stays.
    pub fn absent(words: impl Into<String>) -> Self {
        Self::new(Status::Absent, Content::Words(words.into()))
    }

    /// The tool would not: a rule of the business says no.
    pub fn denied(words: impl Into<String>) -> Self {
        Self::new(Status::Denied, Content::Words(words.into()))
    }

    /// The arguments make no sense to the tool, though they have the right shape.
    pub fn invalid(words: impl Into<String>) -> Self {
        Self::new(Status::Invalid, Content::Words(words.into()))
    }

    /// The tool failed. An `Err` of the tool function is the same.
    pub fn failure(words: impl Into<String>) -> Self {
        Self::new(Status::Failure, Content::Words(words.into()))
    }

    /// The tool asks a person first. When they have answered it is called again with the same arguments, and
    /// [`ToolContext::answer`](crate::ToolContext::answer) says what they said; where they said no, it is not.
    ///
    /// ```
    /// use skillgraph_runtime::{ToolContext, ToolReply};
    ///
    /// async fn close_account(context: &ToolContext) -> Result<ToolReply<&'static str>, std::io::Error> {
    ///     if !context.is_approved() {
    ///         return Ok(ToolReply::pending("Close the account for good?"));
    ///     }
    ///     Ok(ToolReply::success("closed"))
    /// }
    /// # let _ = close_account;
    /// ```
    // SPEC 10.
    pub fn pending(question: impl Into<String>) -> Self {
        Self::new(Status::Pending, Content::Words(question.into()))
    }

    /// Proposes the skill that should open next. A declared edge that fires goes first, the model's own pick last
    ///; a skill that cannot be reached, and a blank reason, are recorded and ignored.
    // SPEC 3.2.
    #[must_use]
    pub fn propose_transition(mut self, skill: impl Into<SkillId>, reason: impl Into<String>) -> Self {
        self.proposal = Some(Proposal { skill: skill.into().to_string(), reason: reason.into() });
        self
    }

    fn new(status: Status, content: Content<T>) -> Self {
        Self { status, content, proposal: None }
    }
}

impl<T> From<T> for ToolReply<T> {
    fn from(output: T) -> Self {
        Self::success(output)
    }
}

/// What the `Ok` of a tool function can be: an output, or a [`ToolReply`] of one.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this output cannot be written as JSON",
    note = "derive `serde::Serialize` on it"
)]
pub trait IntoReply {
    /// The output.
    type Output: Serialize;
    /// The reply.
    fn into_reply(self) -> ToolReply<Self::Output>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoReply for T {
    type Output = T;

    fn into_reply(self) -> ToolReply<T> {
        ToolReply::success(self)
    }
}

impl<T: Serialize> IntoReply for ToolReply<T> {
    type Output = T;

    fn into_reply(self) -> ToolReply<T> {
        self
    }
}

/// What a function under `#[tool]` can return.
#[diagnostic::on_unimplemented(
    message = "a tool function cannot return `{Self}`",
    label = "expected `Result<T, E>` or `Result<ToolReply<T>, E>`",
    note = "`T` must be `Serialize` and `E` must be `Display`"
)]
pub trait ToolReturn {
    /// The output.
    type Output: Serialize;
    /// The error.
    type Error: Display;
    /// The reply, or the error.
    #[allow(clippy::missing_errors_doc)]
    fn into_reply(self) -> Result<ToolReply<Self::Output>, Self::Error>;
}

impl<T: IntoReply, E: Display> ToolReturn for Result<T, E> {
    type Output = T::Output;
    type Error = E;

    fn into_reply(self) -> Result<ToolReply<T::Output>, E> {
        self.map(IntoReply::into_reply)
    }
}
