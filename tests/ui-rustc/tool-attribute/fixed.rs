use std::sync::Arc;

use skillgraph::{Tool, ToolContext, ToolReply, tool};

/// The shared state.
pub struct Book(u32);

/// Reads the book.
#[tool]
async fn read_book(book: &Book, context: &ToolContext) -> Result<ToolReply<u32>, String> {
    Ok(if context.call_id().is_empty() { ToolReply::absent("no id") } else { book.0.into() })
}

/// Takes `self` for nothing: raw names lose their `r#`.
#[tool(exclusive)]
pub async fn r#type() -> Result<u32, String> {
    Ok(1)
}

pub fn main() {
    let tool = ReadBook(Arc::new(Book(1)));
    assert_eq!(tool.0.0, 1);
    assert_eq!((ReadBook::NAME, Type::NAME), ("read_book", "type"));
    assert_eq!(ReadBook::DESCRIPTION, "Reads the book.");
}
