//! What the rules look at: the files that git knows or would add, and the crates of the workspace.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde::Deserialize;

/// The repository as data.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// Text of each file by its path from the root; empty for files that are not text.
    pub(super) files: BTreeMap<String, String>,
    pub(super) crates: Vec<Crate>,
}

/// A crate of the workspace.
#[derive(Debug, Deserialize)]
pub(super) struct Crate {
    pub(super) name: String,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// "dev", "build", or nothing for a normal one.
    pub(super) kind: Option<String>,
}

impl Dependency {
    pub(super) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
    workspace_root: String,
}

impl Repository {
    /// Reads the workspace that the current folder is in.
    pub(super) fn read() -> Result<Repository, String> {
        let metadata = output("cargo", &["metadata", "--no-deps", "--offline", "--format-version", "1"])?;
        let metadata: Metadata = serde_json::from_str(&metadata)
            .map_err(|error| format!("`cargo metadata` printed something unexpected: {error}"))?;
        let root = &metadata.workspace_root;
        let git = ["-c", "safe.directory=*", "-C", root, "ls-files", "-z"];
        let list = output("git", &[&git[..], &["--cached", "--others", "--exclude-standard"]].concat())?;
        let mut files = BTreeMap::new();
        for path in list.split_terminator('\0') {
            // A file that git lists and the disk lacks has been removed and not yet been committed so.
            if let Ok(bytes) = fs::read(format!("{root}/{path}")) {
                files.insert(path.to_owned(), String::from_utf8(bytes).unwrap_or_default());
            }
        }
        Ok(Repository { files, crates: metadata.packages })
    }

    /// The files whose names end in one of these, with their text.
    pub(super) fn ending<'a>(&'a self, ends: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .filter(move |(path, _)| ends.iter().any(|end| path.ends_with(end)))
    }

    #[cfg(test)]
    pub(super) fn of_files(files: &[(&str, &str)]) -> Repository {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Repository { files, crates: Vec::new() }
    }

    /// One crate with normal dependencies, and dev ones where the name starts with `dev:`.
    #[cfg(test)]
    pub(super) fn of_crate(name: &str, dependencies: &[&str]) -> Repository {
        let dependencies = dependencies
            .iter()
            .map(|name| match name.strip_prefix("dev:") {
                Some(name) => Dependency { name: name.to_owned(), kind: Some("dev".to_owned()) },
                None => Dependency { name: (*name).to_owned(), kind: None },
            })
            .collect();
        let crates = vec![Crate { name: name.to_owned(), dependencies }];
        Repository { files: BTreeMap::new(), crates }
    }
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run {program}: {error}; install it"))?;
    if !output.status.success() {
        return Err(format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
