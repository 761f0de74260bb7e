use skillgraph::tool;

struct Ticket;

/// An output that cannot be written.
#[tool]
async fn find() -> Result<Ticket, String> {
    Ok(Ticket)
}

fn main() {}
