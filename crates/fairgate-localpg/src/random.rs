//! Names and passwords that nobody can guess.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::Error;

/// `bytes` random bytes as lower-case hexadecimal.
pub(crate) fn hex(bytes: usize) -> Result<String, Error> {
    let path = Path::new("/dev/urandom");
    let mut buffer = vec![0; bytes];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut buffer))
        .map_err(Error::folder("read", path))?;
    Ok(buffer.iter().map(|byte| format!("{byte:02x}")).collect())
}
