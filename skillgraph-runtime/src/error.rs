//! Errors that are a reason and nothing more: what somebody else's code could not do.

/// A type of error that holds a reason.
macro_rules! reason {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            reason: String,
        }

        impl $name {
            /// An error with that reason.
            pub fn new(reason: impl std::fmt::Display) -> Self {
                Self { reason: reason.to_string() }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.reason)
            }
        }

        impl std::error::Error for $name {}
    };
}

pub(crate) use reason;
