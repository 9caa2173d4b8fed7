use std::fmt;

/// One thing that is wrong with a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The dotted place, as in `policies.webhooks.gates[1].max`; empty where the text is not TOML.
    pub at: String,
    /// What is wrong and what to do.
    pub message: String,
    /// The line itself, where the text is not TOML.
    pub source_line: Option<String>,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.message)?;
        if let Some(source) = &self.source_line {
            let gutter = " ".repeat(self.line.to_string().len());
            let blank: String =
                source.chars().take(self.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            write!(f, "\n  {} | {source}\n  {gutter} | {blank}^", self.line)?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a configuration file: at least one problem, in the order of the lines. Displays one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    file: String,
    problems: Vec<ConfigProblem>,
}

impl ConfigErrors {
    /// `problems` holds at least one.
    pub(super) fn new(file: &str, problems: Vec<ConfigProblem>) -> Self {
        Self { file: file.to_owned(), problems }
    }

    /// The name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The problems, in the order of the lines.
    #[must_use]
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{problem}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
