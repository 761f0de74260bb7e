use schemars::JsonSchema;
use serde::Deserialize;
use skillgraph::tool;

#[derive(Deserialize, JsonSchema)]
struct Borrowed<'a> {
    query: &'a str,
}

struct Shop;

impl Shop {
    /// A method.
    #[tool]
    async fn find(&self) -> Result<u32, String> {
        Ok(1)
    }
}

/// A text.
#[tool]
async fn by_text(query: &str) -> Result<u32, String> {
    Ok(query.len() as u32)
}

/// A number.
#[tool]
async fn by_number(id: u32) -> Result<u32, String> {
    Ok(id)
}

/// A list.
#[tool]
async fn by_list(ids: std::vec::Vec<u32>) -> Result<u32, String> {
    Ok(ids.len() as u32)
}

/// Arguments that borrow.
#[tool]
async fn borrows(args: Borrowed<'_>) -> Result<u32, String> {
    Ok(args.query.len() as u32)
}

fn main() {}
