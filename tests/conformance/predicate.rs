//! Predicates of the cases: they stand for an author's code. A closure here is a plain function, so that the predicates of
//! the case at hand are kept beside it.

use std::cell::RefCell;

use serde_json::Value;
use skillgraph::ToolResult;

thread_local! {
    static ENTRIES: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
    static ROUTES: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

type EntryTest = fn(&str) -> bool;
type ResultTest = fn(&ToolResult) -> bool;

/// Sets the predicates of the case at hand and gives the functions that run them.
pub fn closures(entries: Vec<Value>, routes: Vec<Value>) -> (Vec<EntryTest>, Vec<ResultTest>) {
    let functions = (0..entries.len()).map(|at| ENTRY_FUNCTIONS[at]).collect();
    let route_functions = (0..routes.len()).map(|at| ROUTE_FUNCTIONS[at]).collect();
    ENTRIES.set(entries);
    ROUTES.set(routes);
    (functions, route_functions)
}

const ENTRY_FUNCTIONS: [EntryTest; 6] = [entry::<0>, entry::<1>, entry::<2>, entry::<3>, entry::<4>, entry::<5>];
const ROUTE_FUNCTIONS: [ResultTest; 6] = [route::<0>, route::<1>, route::<2>, route::<3>, route::<4>, route::<5>];

fn entry<const AT: usize>(message: &str) -> bool {
    ENTRIES.with_borrow(|predicates| holds(&predicates[AT], message, None))
}

fn route<const AT: usize>(result: &ToolResult) -> bool {
    ROUTES.with_borrow(|predicates| holds(&predicates[AT], "", Some(result)))
}

/// Whether a predicate holds; one that fails panics.
fn holds(predicate: &Value, message: &str, result: Option<&ToolResult>) -> bool {
    let (kind, argument) = predicate.as_object().and_then(|object| object.iter().next()).expect("one kind");
    let text = || argument.as_str().expect("a text");
    match kind.as_str() {
        "always" => argument.as_bool().expect("a truth value"),
        // Without the noise of a panic that nobody expects.
        "fails" => std::panic::resume_unwind(Box::new("the predicate fails")),
        "message_contains" => message.contains(text()),
        // Rules here read the message alone: there is no history.
        "history_longer_than" => false,
        "iteration_at_least" => argument.as_u64().is_some_and(|least| least <= 1),
        "tool_is" => result.is_some_and(|result| result.tool == *text()),
        "result_contains" => result.is_some_and(|result| {
            let shown = result.value.as_str().map_or_else(|| result.value.to_string(), str::to_owned);
            shown.contains(text())
        }),
        "status_is" => result.is_some_and(|result| result.status.as_str() == text()),
        "not" => !holds(argument, message, result),
        "all" => argument.as_array().expect("a list").iter().all(|part| holds(part, message, result)),
        "any" => argument.as_array().expect("a list").iter().any(|part| holds(part, message, result)),
        other => panic!("unknown predicate {other}"),
    }
}
