//! The server's settings, as the text of a configuration file.

use std::path::Path;

use crate::Error;

/// What the server is asked to be.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) durable: bool,
    pub(crate) max_connections: u32,
    /// Name and value, in the order given; a later one wins.
    pub(crate) extra: Vec<(String, String)>,
}

impl Config {
    /// The configuration file. Where the server listens comes last, so that no extra setting moves it.
    pub(crate) fn render(&self, socket_dir: &Path, port: u16, tcp: bool) -> Result<String, Error> {
        let mut lines = vec![
            setting("cluster_name", "fairgate")?,
            setting("timezone", "UTC")?,
            setting("log_timezone", "UTC")?,
            setting("lc_messages", "C")?,
            setting("logging_collector", "off")?,
            setting("log_destination", "stderr")?,
            setting("max_connections", &self.max_connections.to_string())?,
        ];
        if !self.durable {
            for name in ["fsync", "synchronous_commit", "full_page_writes"] {
                lines.push(setting(name, "off")?);
            }
        }
        for (name, value) in &self.extra {
            lines.push(setting(name, value)?);
        }
        let socket_dir = socket_dir.to_string_lossy();
        lines.push(setting("unix_socket_directories", &format!("\"{}\"", socket_dir.replace('"', "\"\"")))?);
        lines.push(setting("listen_addresses", if tcp { "127.0.0.1" } else { "" })?);
        lines.push(setting("port", &port.to_string())?);
        Ok(lines.concat())
    }
}

/// One line of the file.
fn setting(name: &str, value: &str) -> Result<String, Error> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if !is_name || value.chars().any(char::is_control) {
        return Err(Error::Setting { name: name.to_owned() });
    }
    Ok(format!("{name} = '{}'\n", value.replace('\\', r"\\").replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(extra: &[(&str, &str)]) -> Config {
        let extra = extra.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Config { durable: true, max_connections: 10, extra }
    }

    #[test]
    fn an_extra_setting_cannot_move_where_the_server_listens() {
        let text =
            config(&[("listen_addresses", "*")]).render(Path::new("/tmp/s"), 5432, false).expect("valid");
        assert_eq!(
            text.lines().rfind(|line| line.starts_with("listen_addresses")),
            Some("listen_addresses = ''")
        );
    }

    #[test]
    fn a_durable_server_keeps_fsync() {
        let durable = config(&[]).render(Path::new("/tmp/s"), 5432, false).expect("valid");
        let quick =
            Config { durable: false, ..config(&[]) }.render(Path::new("/tmp/s"), 5432, false).expect("valid");
        assert!(!durable.contains("fsync"));
        assert!(quick.contains("fsync = 'off'\n"));
    }

    #[test]
    fn quotes_are_doubled_and_line_breaks_refused() {
        let text =
            config(&[("search_path", r"it's\n")]).render(Path::new("/tmp/s"), 5432, false).expect("valid");
        assert!(text.contains(r"search_path = 'it''s\\n'"), "{text}");
        assert!(config(&[("work_mem", "1\nfsync=off")]).render(Path::new("/tmp/s"), 5432, false).is_err());
        assert!(config(&[("work mem", "1")]).render(Path::new("/tmp/s"), 5432, false).is_err());
    }
}
