//! Finding the server's programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::account::Account;

/// Major versions below this are refused.
const OLDEST: u32 = 14;
/// The programs that a folder must hold.
const PROGRAMS: [&str; 3] = ["initdb", "pg_ctl", "postgres"];
/// Where packages put one folder per version: parent, start of the folder's name, programs inside it.
const VERSIONED: [(&str, &str, &str); 7] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// A folder with all the programs of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binaries {
    pub(crate) dir: PathBuf,
    pub(crate) major: u32,
}

/// The folder of the server's programs (initdb, pg_ctl, postgres) that a start would use.
///
/// Looks in `FAIRGATE_PG_BIN` (and then nowhere else), `PATH`, `pg_config --bindir`, and the folders where Debian,
/// Fedora, Alpine, Homebrew and Postgres.app put them, the highest version first.
pub fn find_server() -> Result<PathBuf, Error> {
    Ok(find(&Account::choose()?)?.dir)
}

/// The first usable folder, tried as the account that will run the server.
pub(crate) fn find(account: &Account) -> Result<Binaries, Error> {
    let mut refused = String::new();
    for dir in places() {
        match probe(&dir, account) {
            Ok(Some(major)) => return Ok(Binaries { dir, major }),
            Ok(None) => {}
            Err(why) => refused.push_str(&format!("\n  {}: {why}", dir.display())),
        }
    }
    let refused = if refused.is_empty() { ".".to_owned() } else { format!(":{refused}") };
    Err(Error::NoServer { oldest: OLDEST, refused })
}

/// Every folder to look in, in order, without repetition.
fn places() -> Vec<PathBuf> {
    if let Some(dir) = env::var_os("FAIRGATE_PG_BIN").filter(|dir| !dir.is_empty()) {
        return vec![PathBuf::from(dir)];
    }
    let mut places: Vec<PathBuf> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        places.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    for (parent, prefix, inside) in VERSIONED {
        places.extend(versioned(Path::new(parent), prefix).into_iter().map(|dir| dir.join(inside)));
    }
    places.retain(|dir| dir.is_absolute());
    let mut seen = Vec::new();
    for dir in places {
        if !seen.contains(&dir) {
            seen.push(dir);
        }
    }
    seen
}

/// Folders in `parent` whose names start with `prefix` and go on with a number, highest first.
fn versioned(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let number = name.strip_prefix(prefix)?.trim_start_matches('@');
            Some((leading_number(number).unwrap_or(0), entry.path()))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The major version in `dir`; `None` when nothing of a server is there, an error when it cannot be used.
fn probe(dir: &Path, account: &Account) -> Result<Option<u32>, String> {
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| !dir.join(name).exists()).collect();
    if missing.len() == PROGRAMS.len() {
        return match env::var_os("FAIRGATE_PG_BIN") {
            Some(set) if Path::new(&set) == dir => {
                Err("FAIRGATE_PG_BIN names it, but it holds no server programs".to_owned())
            }
            _ => Ok(None),
        };
    }
    if !missing.is_empty() {
        return Err(format!("lacks {}", missing.join(" and ")));
    }
    let output = account
        .command(dir.join("postgres"))
        .arg("--version")
        .output()
        .map_err(|source| format!("{} cannot run postgres there: {source}", account.name()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match major_version(&text) {
        Some(major) if major >= OLDEST => Ok(Some(major)),
        Some(major) => Err(format!("PostgreSQL {major} is too old")),
        None => Err(format!("`postgres --version` printed {:?}", text.trim())),
    }
}

/// The major version in what `postgres --version` prints.
fn major_version(text: &str) -> Option<u32> {
    text.split_whitespace().find_map(leading_number)
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_every_vendors_wording() {
        assert_eq!(major_version("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), Some(15));
        assert_eq!(major_version("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major_version("postgres (PostgreSQL) 9.6.24"), Some(9));
        assert_eq!(major_version("no number here"), None);
    }

    #[test]
    fn versioned_folders_come_highest_first() {
        let parent = env::temp_dir().join(format!("fairgate-versions-{}", std::process::id()));
        for name in ["postgresql@9", "postgresql@17", "postgresql@16", "mysql@8"] {
            fs::create_dir_all(parent.join(name)).expect("the temporary folder is writable");
        }
        let found = versioned(&parent, "postgresql");
        fs::remove_dir_all(&parent).expect("we made it");
        assert_eq!(found, ["postgresql@17", "postgresql@16", "postgresql@9"].map(|name| parent.join(name)));
    }
}
