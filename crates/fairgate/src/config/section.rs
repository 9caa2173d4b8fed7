//! The tables of a file, with the place of everything in them.

use fairgate_core::id::NAME_LIMIT;
use toml::de::{DeTable, DeValue};

use super::findings::Findings;
use super::suggest;

/// A table.
pub(super) struct Section<'a> {
    /// Its dotted place; empty for the file itself.
    pub(super) at: String,
    /// Where it begins.
    pub(super) offset: usize,
    table: &'a DeTable<'a>,
}

/// A value and its key.
pub(super) struct Node<'a> {
    /// Its dotted place.
    pub(super) at: String,
    /// The last part of the place: the key as written.
    pub(super) key: &'a str,
    /// Where the key stands.
    pub(super) key_offset: usize,
    /// Where the value stands.
    pub(super) offset: usize,
    /// The value.
    pub(super) value: &'a DeValue<'a>,
}

impl<'a> Section<'a> {
    pub(super) fn root(table: &'a DeTable<'a>) -> Self {
        Self { at: String::new(), offset: 0, table }
    }

    /// The dotted place of a key.
    pub(super) fn place(&self, key: &str) -> String {
        let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let key = match key {
            "" => "\"\"".to_owned(),
            key if key.len() <= NAME_LIMIT && key.chars().all(bare) => key.to_owned(),
            key => format!("{key:?}"),
        };
        if self.at.is_empty() { key } else { format!("{}.{key}", self.at) }
    }

    /// The dotted place of a dotted path of known keys.
    pub(super) fn place_of(&self, path: &str) -> String {
        format!("{}.{path}", self.at)
    }

    /// Everything in it, in the order of the file.
    pub(super) fn nodes(&self) -> Vec<Node<'a>> {
        let mut nodes: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| Node {
                at: self.place(key.get_ref()),
                key: key.get_ref(),
                key_offset: key.span().start,
                offset: value.span().start,
                value: value.get_ref(),
            })
            .collect();
        nodes.sort_by_key(|node| node.key_offset);
        nodes
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.nodes().into_iter().find(|node| node.key == key)
    }

    /// The table under a key.
    pub(super) fn section(&self, key: &str, found: &mut Findings<'_>) -> Option<Self> {
        self.get(key)?.section(found)
    }

    /// Where the value of a dotted path in it stands, or what is there of the path.
    pub(super) fn offset_of(&self, path: &str) -> usize {
        let (key, rest) = path.split_once('.').unwrap_or((path, ""));
        match self.get(key) {
            None => self.offset,
            Some(node) => match node.value {
                DeValue::Table(table) if !rest.is_empty() => {
                    Section { at: node.at, offset: node.offset, table }.offset_of(rest)
                }
                _ => node.offset,
            },
        }
    }

    /// Reports every key that is neither known nor known to come.
    pub(super) fn only(&self, found: &mut Findings<'_>, known: &[&str], later: &[&str]) {
        for node in self.nodes() {
            if later.contains(&node.key) {
                let message = format!("{} is not available yet; remove it", node.key);
                found.problem(node.key_offset, &node.at, message);
            } else if !known.contains(&node.key) {
                let hint = suggest::hint(node.key, known, "the keys here are");
                found.problem(node.key_offset, &node.at, format!("unknown key {:?}{hint}", node.key));
            }
        }
    }
}

impl<'a> Node<'a> {
    /// The value as a table.
    pub(super) fn section(&self, found: &mut Findings<'_>) -> Option<Section<'a>> {
        match self.value {
            DeValue::Table(table) => Some(Section { at: self.at.clone(), offset: self.offset, table }),
            _ => self.wrong(found, &format!("a table: [{}]", self.at)),
        }
    }

    /// The value as an array of tables, each with its place (`gates[1]`).
    pub(super) fn sections(&self, found: &mut Findings<'_>) -> Option<Vec<Section<'a>>> {
        let wanted = format!("an array of tables: [[{}]]", self.at);
        let DeValue::Array(array) = self.value else {
            return self.wrong(found, &wanted);
        };
        let mut sections = Vec::with_capacity(array.len());
        for (index, element) in array.iter().enumerate() {
            let node = Node {
                at: format!("{}[{index}]", self.at),
                key: self.key,
                key_offset: element.span().start,
                offset: element.span().start,
                value: element.get_ref(),
            };
            match node.value {
                DeValue::Table(table) => sections.push(Section { at: node.at, offset: node.offset, table }),
                _ => node.refuse(found, &wanted),
            }
        }
        Some(sections)
    }
}
