use skillgraph::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    n: u32,
}

/// Not async.
#[tool]
fn not_async() -> Result<u32, String> {
    Ok(1)
}

#[tool]
async fn no_description() -> Result<u32, String> {
    Ok(1)
}

/// Two argument values.
#[tool]
async fn two_values(a: Args, b: Args) -> Result<u32, String> {
    Ok(a.n + b.n)
}

/// A reference in second place.
#[tool]
async fn late_state(a: Args, state: &String) -> Result<u32, String> {
    Ok(a.n + state.len() as u32)
}

/// Generic.
#[tool]
async fn generic<T>(a: T) -> Result<T, String> {
    Ok(a)
}

/// No result.
#[tool]
async fn no_result() -> u32 {
    1
}

/// An unknown option.
#[tool(exclusiv)]
async fn unknown_option() -> Result<u32, String> {
    Ok(1)
}

fn main() {}
