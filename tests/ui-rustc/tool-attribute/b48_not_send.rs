use std::rc::Rc;

use skillgraph::tool;

/// Holds something that cannot change threads.
#[tool]
async fn not_send() -> Result<u32, String> {
    let shared = Rc::new(1);
    std::future::ready(()).await;
    Ok(*shared)
}

fn main() {}
