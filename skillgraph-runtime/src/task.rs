//! Work of a host's own code, kept apart from the turn: a panic stays inside, and nobody waits in vain.

use tokio::task::{JoinError, JoinSet};

/// Runs a future as a task of its own. It is cancelled when nobody waits for it any more.
///
/// # Errors
///
/// [`JoinError`] where it panicked.
pub(crate) async fn apart<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, JoinError> {
    // A task that is spawned by itself would outlive a turn that was dropped; those of a set end with it.
    let mut tasks = JoinSet::new();
    tasks.spawn(work);
    match tasks.join_next().await {
        Some(joined) => joined,
        // The set holds the one task.
        None => std::future::pending().await,
    }
}
