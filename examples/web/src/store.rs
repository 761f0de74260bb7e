//! Conversations and charges in SQLite.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension, params};
use skillgraph::SavedConversation;

/// One database, shared by all requests.
#[derive(Clone)]
pub struct Store(Arc<Mutex<Connection>>);

impl Store {
    pub fn open(path: &str) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "pragma journal_mode = wal;
             create table if not exists conversations (user text primary key, revision integer not null, saved text not null);
             create table if not exists charges (key text primary key, loan integer not null);",
        )?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn load(&self, user: &str) -> Result<Option<SavedConversation>, String> {
        let found: Option<String> = self
            .connection()
            .query_row("select saved from conversations where user = ?1", [user], |row| row.get(0))
            .optional()
            .map_err(|error| error.to_string())?;
        found.map(|saved| serde_json::from_str(&saved).map_err(|error| error.to_string())).transpose()
    }

    /// Stores a newer state. Where another process has stored one that is as new, and another, the conversation is no longer ours.
    pub fn save(&self, user: &str, saved: &SavedConversation) -> Result<(), String> {
        let text = serde_json::to_string(saved).map_err(|error| error.to_string())?;
        let written = self.connection().execute(
            "insert into conversations (user, revision, saved) values (?1, ?2, ?3)
             on conflict (user) do update set revision = excluded.revision, saved = excluded.saved
             where revision < excluded.revision or saved = excluded.saved",
            params![user, i64::try_from(saved.revision()).unwrap_or(i64::MAX), text],
        );
        match written {
            Ok(0) => Err("this conversation has gone on elsewhere".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Charges for a loan, once for a key.
    pub fn charge(&self, key: &str, loan: u32) -> rusqlite::Result<()> {
        let sql = "insert into charges (key, loan) values (?1, ?2) on conflict (key) do nothing";
        self.connection().execute(sql, params![key, loan]).map(drop)
    }
}
