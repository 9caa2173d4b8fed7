//! Where a cluster can live, given the account that runs it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::account::Account;

/// Whether the account can come to `path`: every folder above it, which are created as needed, can be entered.
pub(crate) fn can_be_home(path: &Path, account: &Account) -> Result<bool, Error> {
    let Some(parent) = path.parent() else {
        return Err(Error::NotOurs { path: path.to_owned(), why: "is the root folder".to_owned() });
    };
    let made = missing(parent);
    fs::create_dir_all(parent).map_err(Error::folder("create", parent))?;
    let reachable = account.can_enter(parent);
    if !reachable {
        for dir in made {
            // Not being able to tidy up an empty folder of ours harms nobody.
            let _ = fs::remove_dir(dir);
        }
    }
    Ok(reachable)
}

/// The folders of `path` that do not exist, innermost first.
fn missing(path: &Path) -> Vec<&Path> {
    path.ancestors().take_while(|dir| !dir.exists()).collect()
}

/// The place under /var/tmp that stands for `path`: readable, and never the same for two paths.
pub(crate) fn substitute(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut readable = words.join("-");
    readable.truncate(48);
    PathBuf::from(format!("/var/tmp/fairgate-{readable}-{:08x}", fnv1a(path.as_os_str().as_encoded_bytes())))
}

/// The 32-bit FNV-1a hash, which stays the same from one build to the next.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substitute_names_its_path_and_is_its_own() {
        let one = substitute(Path::new("/root/my project/.fairgate/demo"));
        let other = substitute(Path::new("/root/my-project/.fairgate/demo"));
        assert!(
            one.to_string_lossy().starts_with("/var/tmp/fairgate-root-my-project-fairgate-demo-"),
            "{one:?}"
        );
        assert_ne!(one, other);
    }

    #[test]
    fn a_substitute_of_a_long_path_stays_short() {
        let long = PathBuf::from(format!("/{}", "é/deep".repeat(100)));
        assert!(substitute(&long).as_os_str().len() < 80);
    }
}
