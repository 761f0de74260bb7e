//! Tools: what an author implements, and what the loop runs.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skillgraph_core::decl::{Literal, Status, ToolId};
use skillgraph_core::graph::{EdgeEvidence, EdgeIx, Learnt, Verdict};
use skillgraph_core::text::is_blank;
use skillgraph_core::turn::{self, Capability, PersonReply, ToolSpec, closed_schema, object_schema};

use crate::authorize::Identity;
use crate::reply::{Content, ToolReply};

/// Something that a model may call. `#[skillgraph::tool]` on an async function implements it.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use skillgraph_runtime::{Tool, ToolContext, ToolReply};
///
/// struct LookupOrder;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct LookupArgs {
///     /// The order's number.
///     order: u32,
/// }
///
/// #[derive(Serialize)]
/// struct Order {
///     total_cents: u64,
/// }
///
/// impl Tool for LookupOrder {
///     const NAME: &'static str = "lookup_order";
///     const DESCRIPTION: &'static str = "Looks an order up by its number.";
///     type Args = LookupArgs;
///     type Output = Order;
///     type Error = std::io::Error;
///
///     async fn call(&self, args: LookupArgs, _: &ToolContext) -> Result<ToolReply<Order>, std::io::Error> {
///         Ok(match args.order {
///             1042 => ToolReply::success(Order { total_cents: 4_990 }),
///             other => ToolReply::absent(format!("there is no order {other}")),
///         })
///     }
/// }
/// ```
// SPEC 14.2.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "this type does not implement `skillgraph::Tool`",
    note = "put `#[skillgraph::tool]` on an async function, and name the type it makes: `find_ticket` makes `FindTicket`"
)]
pub trait Tool: Send + Sync + 'static {
    /// What the model calls it: 1–64 of `a-z A-Z 0-9 _ -`.
    const NAME: &'static str;
    /// What it does, for the model.
    const DESCRIPTION: &'static str;
    /// What somebody must be allowed to run it, beside `tool_call`.
    // SPEC 9.
    const CAPABILITIES: &'static [&'static str] = &[];
    /// Its arguments: a type whose JSON Schema is an object.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// What it returns.
    type Output: Serialize + Send;
    /// What can go wrong. The model reads the text of it.
    type Error: Display + Send;

    /// How it wants to be run.
    fn options(&self) -> ToolOptions {
        ToolOptions::default()
    }

    /// What generated code binds a tool with: a path through this trait, so that a type which is no tool is one error.
    #[doc(hidden)]
    fn bind(self, tests: &'static [TypedTest<Self>]) -> BoundTool
    where
        Self: Sized,
    {
        BoundTool::typed(self, tests)
    }

    /// Runs it. An error is a result of status `failure`; a panic too.
    ///
    /// It runs as a task of its own. Work that blocks the thread belongs into `tokio::task::spawn_blocking`: a blocked thread
    /// cannot be timed out.
    fn call(
        &self,
        args: Self::Args,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolReply<Self::Output>, Self::Error>> + Send;
}

/// How a tool wants to be run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolOptions {
    pub(crate) exclusive: bool,
    pub(crate) timeout: Option<Duration>,
}

impl ToolOptions {
    /// No other tool of the batch runs at the same time.
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.exclusive = true;
        self
    }

    /// How long it may take, instead of the agent's own limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// What a tool may know about the call.
#[derive(Debug, Clone)]
pub struct ToolContext {
    pub(crate) call_id: String,
    pub(crate) idempotency_key: String,
    pub(crate) tool: ToolId,
    pub(crate) identity: Arc<Identity>,
    pub(crate) answer: Option<PersonReply>,
}

impl ToolContext {
    /// The id of the call: unique within the conversation.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// A key for what must happen once: the same however often this call is run, after an approval or a restart of the process,
    /// and that of no other call. Give it to whatever keeps the effect: a payment provider, a unique column.
    ///
    /// It is made from the id that the conversation was given when it began, or from a random one.
    pub fn idempotency_key(&self) -> &str {
        &self.idempotency_key
    }

    /// The name that the tool was called by.
    pub fn tool(&self) -> &ToolId {
        &self.tool
    }

    /// Whom the conversation is with.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What a person said to the question that the tool asked with [`ToolReply::pending`]; none where it has asked nothing.
    pub fn answer(&self) -> Option<&PersonReply> {
        self.answer.as_ref()
    }

    /// Whether a person was asked and said yes.
    pub fn is_approved(&self) -> bool {
        matches!(self.answer, Some(PersonReply::Approved | PersonReply::ApprovedWith { .. }))
    }
}

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct NoArgs {}

impl JsonSchema for NoArgs {
    fn schema_name() -> Cow<'static, str> {
        "NoArgs".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": {}, "additionalProperties": false })
    }
}

/// A tool that is known only at run time: `name: dyn` in a graph's registry.
///
/// ```
/// use serde_json::json;
/// use skillgraph_runtime::{DynTool, ToolReply};
///
/// let search = DynTool::new(
///     "search_docs",
///     "Searches the documentation.",
///     json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }),
///     |args, _context| async move {
///         Ok::<_, std::convert::Infallible>(ToolReply::absent(format!("nothing about {}", args["query"])))
///     },
/// );
/// assert_eq!(search.name(), "search_docs");
/// ```
#[derive(Clone)]
pub struct DynTool {
    spec: ToolSpec,
    options: ToolOptions,
    capabilities: Vec<Capability>,
    run: Runner<Value, Result<ToolReply<Value>, String>>,
}

impl DynTool {
    /// A tool. `parameters` is the JSON Schema of its arguments, an object; `run` gets the arguments as an object.
    pub fn new<R, E, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        run: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: Into<ToolReply<Value>>,
        E: Display,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        let run = Arc::new(run);
        Self {
            spec: ToolSpec { name: ToolId::from(name.into()), description: description.into(), parameters },
            options: ToolOptions::default(),
            capabilities: Vec::new(),
            run: Arc::new(move |args, context| {
                let run = run.clone();
                Box::pin(async move { run(args, context).await.map(Into::into).map_err(|error| error.to_string()) })
            }),
        }
    }

    /// How it wants to be run.
    #[must_use]
    pub fn with_options(mut self, options: ToolOptions) -> Self {
        self.options = options;
        self
    }

    /// What somebody must be allowed to run it, beside `tool_call`.
    // SPEC 9.
    #[must_use]
    pub fn with_capabilities(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.capabilities = names.into_iter().map(|name| Capability::from(name.into())).collect();
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.spec.name.as_str()
    }
}

impl fmt::Debug for DynTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// From arguments to what becomes of them.
type Runner<A, R> = Arc<dyn Fn(A, ToolContext) -> BoxFuture<R> + Send + Sync>;

/// What an edge of the graph asks of a typed output: the edge, and the question.
// SPEC 1.4.
pub type TypedTest<T> = (u32, OutputTest<<T as Tool>::Output>);

/// What can be asked of a typed output.
#[derive(Debug, Clone, Copy)]
pub enum OutputTest<O> {
    /// Whether it passes a closure.
    Closure(fn(&O) -> bool),
    /// The fields that the terms of a guard are about, in their order.
    Guard(fn(&O) -> Vec<Option<Literal>>),
}

impl<O> OutputTest<O> {
    fn ask(&self, output: &O) -> Learnt {
        match self {
            OutputTest::Closure(test) => Learnt::Verdict(Verdict::of(|| test(output))),
            OutputTest::Guard(read) => Learnt::Fields(read(output)),
        }
    }
}

/// A tool as the loop runs it, its types gone.
pub struct BoundTool {
    pub(crate) spec: ToolSpec,
    pub(crate) options: ToolOptions,
    pub(crate) capabilities: Vec<Capability>,
    /// What is wrong with arguments, if something is.
    fits: fn(&Map<String, Value>) -> Result<(), String>,
    run: Runner<Map<String, Value>, turn::ToolReturn>,
}

impl BoundTool {
    /// Binds a typed tool, with what the graph's edges ask of its output.
    pub fn typed<T: Tool>(tool: T, tests: &'static [TypedTest<T>]) -> Self {
        let options = tool.options();
        let tool = Arc::new(tool);
        Self {
            spec: ToolSpec {
                name: ToolId::from_static(T::NAME),
                description: T::DESCRIPTION.to_owned(),
                parameters: schema_of::<T::Args>(),
            },
            options,
            capabilities: T::CAPABILITIES.iter().map(|name| Capability::from(*name)).collect(),
            fits: |args| read_args::<T::Args>(args.clone()).map(drop),
            run: Arc::new(move |args, context| Box::pin(call_typed(tool.clone(), tests, args, context))),
        }
    }

    /// Binds a tool that is known only at run time.
    pub fn dynamic(tool: DynTool) -> Self {
        let DynTool { mut spec, options, capabilities, run } = tool;
        spec.parameters = object_schema(spec.parameters);
        Self {
            spec,
            options,
            capabilities,
            fits: |_| Ok(()),
            run: Arc::new(move |args, context| {
                let call = run(Value::Object(args), context.clone());
                Box::pin(async move { answer(&context, call.await, |_| Vec::new()) })
            }),
        }
    }

    /// Whether its parameters are those of an object, as every provider wants them.
    pub(crate) fn takes_an_object(&self) -> bool {
        self.spec.parameters.get("type") == Some(&json!("object"))
    }

    /// The answer to a call whose arguments do not fit the tool's type; none where they do.
    pub(crate) fn unfit(&self, call_id: &str, args: &Map<String, Value>) -> Option<turn::ToolReturn> {
        let reason = (self.fits)(args).err()?;
        Some(unfit(call_id, &self.spec.name, &reason))
    }

    pub(crate) fn run(&self, args: Map<String, Value>, context: ToolContext) -> BoxFuture<turn::ToolReturn> {
        (self.run)(args, context)
    }
}

impl fmt::Debug for BoundTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

async fn call_typed<T: Tool>(
    tool: Arc<T>,
    tests: &'static [TypedTest<T>],
    args: Map<String, Value>,
    context: ToolContext,
) -> turn::ToolReturn {
    let args: T::Args = match read_args(args) {
        Ok(args) => args,
        Err(reason) => return unfit(&context.call_id, &context.tool, &reason),
    };
    let result = tool.call(args, &context).await;
    answer(&context, result, |output| {
        let learn =
            |(edge, test): &TypedTest<T>| EdgeEvidence { edge: EdgeIx::new(*edge as usize), learnt: test.ask(output) };
        tests.iter().map(learn).collect()
    })
}

fn read_args<A: DeserializeOwned>(args: Map<String, Value>) -> Result<A, String> {
    serde_path_to_error::deserialize(Value::Object(args)).map_err(|error| argument_error(&error))
}

fn unfit(call_id: &str, tool: &ToolId, reason: &str) -> turn::ToolReturn {
    turn::ToolReturn::message(call_id, Status::Invalid, format!("`{tool}` was not run: {reason}."))
}

/// What is wrong with which field.
fn argument_error(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    match error.path().to_string().as_str() {
        "." => error.inner().to_string(),
        path => format!("in `{path}`: {}", error.inner()),
    }
}

/// A typed answer without its type: the value for edges, the text for the model, what edges learnt of it.
fn answer<T: Serialize, E: Display>(
    context: &ToolContext,
    result: Result<ToolReply<T>, E>,
    learn: impl FnOnce(&T) -> Vec<EdgeEvidence>,
) -> turn::ToolReturn {
    let call_id = &context.call_id;
    let reply = match result {
        Ok(reply) => reply,
        Err(error) => {
            let reason = error.to_string();
            let text = match is_blank(&reason) {
                true => format!("`{}` failed, and did not say why.", context.tool),
                false => format!("`{}` failed: {reason}", context.tool),
            };
            return turn::ToolReturn::message(call_id, Status::Failure, text);
        }
    };
    let mut returned = match reply.content {
        Content::Words(words) if is_blank(&words) && reply.status.is_error() => {
            let text = format!("`{}` came back as {}, and did not say why.", context.tool, reply.status);
            turn::ToolReturn::message(call_id, reply.status, text)
        }
        Content::Words(words) => turn::ToolReturn::message(call_id, reply.status, words),
        Content::Output(output) => match (serde_json::to_value(&output), serde_json::to_string(&output)) {
            (Ok(value), Ok(json)) => {
                let mut returned = turn::ToolReturn::new(call_id, reply.status, value);
                if !returned.value.is_string() {
                    returned.text = json;
                }
                returned.typed = learn(&output);
                returned
            }
            (Err(error), _) | (_, Err(error)) => {
                let text = format!("`{}` returned what cannot be shown: {error}", context.tool);
                turn::ToolReturn::message(call_id, Status::Failure, text)
            }
        },
    };
    returned.proposal = reply.proposal;
    returned
}

/// The schema of a tool's arguments, as providers want it: one object, complete, without decoration.
fn schema_of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<A>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    closed_schema(schema)
}
