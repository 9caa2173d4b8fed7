//! Names, keys and ids, parsed once into types of their own. The limits are those of the database's CHECK constraints.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The longest name of a policy, gate or queue, in bytes.
pub const NAME_LIMIT: usize = 100;
/// The longest partition key, in bytes.
pub const PARTITION_KEY_LIMIT: usize = 10_000;
/// The longest shard, in bytes.
pub const SHARD_LIMIT: usize = 200;

/// Why a text is not the name, key or id that it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// There is no text.
    #[error("a {what} must not be empty")]
    Empty {
        /// The kind of name: "policy name".
        what: &'static str,
    },
    /// The text has too many bytes.
    #[error("a {what} has at most {limit} bytes, this one has {bytes}")]
    TooLong {
        /// The kind of name.
        what: &'static str,
        /// Bytes found.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// PostgreSQL cannot store the NUL character in a text.
    #[error("a {what} must not contain the NUL character")]
    Nul {
        /// The kind of name.
        what: &'static str,
    },
    /// A name starts with a digit, a dot or a dash.
    #[error("a {what} must start with a letter or `_`, {value:?} starts with {found:?}")]
    BadStart {
        /// The kind of name.
        what: &'static str,
        /// The whole text.
        value: String,
        /// Its first character.
        found: char,
    },
    /// A name has a character outside `[A-Za-z0-9_.-]`.
    #[error("a {what} is made of A-Z, a-z, 0-9, `_`, `.` and `-`; {value:?} contains {found:?}")]
    BadCharacter {
        /// The kind of name.
        what: &'static str,
        /// The whole text.
        value: String,
        /// The first character that does not belong.
        found: char,
    },
    /// The text is no UUID.
    #[error("a {what} is a UUID such as 3f0c2a52-9d0e-4a66-8a4e-6b2f3f8d1c11, not {value:?}")]
    NotAUuid {
        /// The kind of id.
        what: &'static str,
        /// The text found.
        value: String,
    },
}

fn check_name(what: &'static str, text: &str) -> Result<(), IdError> {
    check_text(what, text, NAME_LIMIT)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if let Some(found) = text.chars().find(|&c| !allowed(c)) {
        let value = text.to_owned();
        return Err(IdError::BadCharacter { what, value, found });
    }
    match text.chars().next() {
        Some(found) if !(found.is_ascii_alphabetic() || found == '_') => {
            let value = text.to_owned();
            Err(IdError::BadStart { what, value, found })
        }
        _ => Ok(()),
    }
}

fn check_text(what: &'static str, text: &str, limit: usize) -> Result<(), IdError> {
    let bytes = text.len();
    if bytes == 0 {
        Err(IdError::Empty { what })
    } else if bytes > limit {
        Err(IdError::TooLong { what, bytes, limit })
    } else if text.contains('\0') {
        Err(IdError::Nul { what })
    } else {
        Ok(())
    }
}

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                let check: fn(&str) -> Result<(), IdError> = $check;
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::try_from(text.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_type!(
    /// The name of a policy: 1 to 100 bytes of `[A-Za-z0-9_.-]`, starting with a letter or `_`.
    PolicyName,
    |text| check_name("policy name", text)
);
text_type!(
    /// The name of a gate within its policy; same rule as [`PolicyName`]. A gate's stored state follows it.
    GateName,
    |text| check_name("gate name", text)
);
text_type!(
    /// The name of a configured queue; same rule as [`PolicyName`].
    QueueName,
    |text| check_name("queue name", text)
);
text_type!(
    /// The key of a partition: any non-empty text up to 10,000 bytes without NUL, distinct by bytes.
    PartitionKey,
    |text| check_text("partition key", text, PARTITION_KEY_LIMIT)
);
text_type!(
    /// The value that partitions of one scope share: any non-empty text up to 10,000 bytes without NUL, distinct by bytes.
    ScopeValue,
    |text| check_text("scope", text, PARTITION_KEY_LIMIT)
);
text_type!(
    /// The shard of a partition: any non-empty text up to 200 bytes without NUL; `default` when nothing says otherwise.
    Shard,
    |text| check_text("shard", text, SHARD_LIMIT)
);

impl Default for Shard {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

macro_rules! uuid_type {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that was made elsewhere.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID.
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::parse_str(text).map(Self).map_err(|_| IdError::NotAUuid {
                    what: $what,
                    value: text.to_owned(),
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_type!(
    /// A job, from staging to its end, through every retry.
    JobId,
    "job id"
);
uuid_type!(
    /// One admission of a job; whatever starts, beats or finishes names it.
    AdmissionId,
    "admission id"
);
uuid_type!(
    /// The row of a partition.
    PartitionId,
    "partition id"
);
