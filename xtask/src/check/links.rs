//! Every relative link in a Markdown file leads somewhere.

use super::Problem;
use super::repository::Repository;

pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in repository.ending(&[".md"]) {
        let mut in_code = false;
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            }
            if in_code {
                continue;
            }
            for target in targets(&without_code(line)) {
                if !leads_somewhere(repository, path, target) {
                    problems.push(Problem::in_line(
                        path,
                        index,
                        format!("the link to `{target}` leads nowhere: mend it, or add the file to git"),
                    ));
                }
            }
        }
    }
    problems
}

/// The line with its `code` blanked out.
fn without_code(line: &str) -> String {
    line.split('`').enumerate().map(|(index, part)| if index % 2 == 0 { part } else { "code" }).collect()
}

/// Where `[text](target "title")` and `[name]: target` lead, without the part after `#`; other sites are left out.
fn targets(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let definition =
        line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:")).map(|(_, rest)| rest);
    inline
        .chain(definition)
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']))
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty())
        .collect()
}

/// Whether `target`, as written in file `from`, is a file or folder of the repository.
fn leads_somewhere(repository: &Repository, from: &str, target: &str) -> bool {
    let mut parts: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.split('/').collect(),
    };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            name => parts.push(name),
        }
    }
    let path = parts.join("/");
    let inside = format!("{path}/");
    path.is_empty() || repository.files.keys().any(|file| *file == path || file.starts_with(&inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> usize {
        check(&Repository::of_files(&[
            ("docs/a.md", text),
            ("docs/b.md", ""),
            ("README.md", ""),
            ("src/x/y.rs", ""),
        ]))
        .len()
    }

    #[test]
    fn links_to_files_folders_and_other_sites_pass() {
        assert_eq!(broken("[b](b.md#part) ![i](../README.md \"title\") [x](../src/x/) [top](#top)"), 0);
        assert_eq!(broken("[w](https://example.org/none) [m](mailto:a@example.org) [r](/README.md)"), 0);
        assert_eq!(broken("[ref]: ./b.md"), 0);
    }

    #[test]
    fn a_link_to_nowhere_is_named_with_its_line() {
        let repository = Repository::of_files(&[("docs/a.md", "fine\n[c](c.md)\n")]);
        assert!(
            check(&repository)[0].to_string().starts_with("docs/a.md:2: the link to `c.md` leads nowhere")
        );
        assert_eq!(broken("[out](../../other/README.md)"), 1);
        assert_eq!(broken("[ref]: none.md"), 1);
    }

    #[test]
    fn code_is_no_link() {
        assert_eq!(broken("`[a](none.md)`\n```\n[a](none.md)\n```\n"), 0);
    }
}
