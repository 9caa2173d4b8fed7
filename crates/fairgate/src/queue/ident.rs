use std::fmt;

/// A checked SQL identifier. `Display` quotes it, so it may stand in a template; [`Ident::as_str`] is the bare name, for a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident(String);

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentError {
    /// Nothing there.
    #[error("the name is empty")]
    Empty,
    /// PostgreSQL would cut it.
    #[error("the name \"{name}\" is {} bytes long; PostgreSQL takes 63", name.len())]
    TooLong {
        /// The name.
        name: String,
    },
    /// A character that no sane schema has, and that a template must never carry.
    #[error("the name \"{name}\" has the character {character:?}; letters, digits, _, - and $ are taken")]
    BadCharacter {
        /// The name.
        name: String,
        /// The first one that is not taken.
        character: char,
    },
}

impl Ident {
    /// Checks a name.
    ///
    /// # Errors
    /// When it is empty, over 63 bytes, or has characters other than letters, digits, `_`, `-` and `$`.
    pub fn new(name: &str) -> Result<Self, IdentError> {
        if name.is_empty() {
            return Err(IdentError::Empty);
        }
        if name.len() > 63 {
            return Err(IdentError::TooLong { name: name.to_owned() });
        }
        match name.chars().find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))) {
            Some(character) => Err(IdentError::BadCharacter { name: name.to_owned(), character }),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// The bare name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}
