//! What a private server promises, shown on real ones.

mod owner;

use std::error::Error as _;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use fairgate_localpg::{Builder, Error, LocalPg, Notice};
use owner::{Owner, server_runs, wait_until};

/// A folder of this test's own, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(format!("/var/tmp/fairgate-test-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("/var/tmp is writable");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn quick() -> Builder {
    LocalPg::builder().durable(false)
}

/// Collects the notices of a start.
fn noting(builder: Builder) -> (Builder, Arc<Mutex<Vec<Notice>>>) {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    (builder.on_notice(move |notice| sink.lock().expect("no test panics here").push(notice.clone())), notices)
}

/// Runs one statement through psql, or nothing when psql is not there.
fn psql(server: &LocalPg, url: &str, sql: &str) -> Option<String> {
    let program = server.bin_dir().join("psql");
    let output = Command::new(program).args(["-XAtqc", sql, "-d", url]).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned())
}

fn pid_file(dir: &Path) -> PathBuf {
    dir.join("data/postmaster.pid")
}

#[test]
fn an_ephemeral_server_answers_and_leaves_nothing_behind() {
    let server = quick().setting("work_mem", "7MB").start().expect("starts");
    let (dir, pid) = (server.dir().to_owned(), server.server_pid());
    UnixStream::connect(server.socket_dir().join(".s.PGSQL.5432")).expect("accepts connections");
    if let Some(answer) =
        psql(&server, &server.url("postgres"), "select current_user || current_setting('work_mem')")
    {
        assert_eq!(answer, "fairgate7MB");
    }
    server.stop().expect("stops");
    assert!(!server_runs(pid) && !dir.exists());
}

#[test]
fn data_survives_a_stop() {
    let scratch = Scratch::new("survives");
    let dir = scratch.0.join("cluster");
    let server = quick().dir(&dir).start().expect("starts");
    psql(&server, &server.url("postgres"), "create table kept as select 42 as answer");
    server.stop().expect("stops");
    let (builder, notices) = noting(quick().dir(&dir));
    let server = builder.start().expect("starts again");
    if let Some(answer) = psql(&server, &server.url("postgres"), "select answer from kept") {
        assert_eq!(answer, "42");
    }
    assert_eq!(*notices.lock().expect("unpoisoned"), []);
}

#[test]
fn a_folder_in_use_is_refused_and_names_its_owner() {
    let scratch = Scratch::new("in-use");
    let _server = quick().dir(&scratch.0).start().expect("an empty folder is fine");
    let error = quick().dir(&scratch.0).start().expect_err("it is taken");
    assert!(matches!(error, Error::InUse { owner: Some(pid), .. } if pid == std::process::id()), "{error}");
    assert!(error.to_string().contains("choose another folder"), "{error}");
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let scratch = Scratch::new("foreign");
    fs::write(scratch.0.join("thesis.txt"), "years of work").expect("writable");
    let error = quick().dir(&scratch.0).start().expect_err("it is not ours");
    assert!(matches!(error, Error::NotOurs { .. }), "{error}");
    assert_eq!(fs::read_dir(&scratch.0).expect("readable").count(), 1);
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let port = taken.local_addr().expect("bound").port();
    let error = quick().port(port).start().expect_err("it is taken");
    assert!(matches!(error, Error::PortTaken { port: named, .. } if named == port), "{error}");
    assert!(error.source().is_some());
}

#[test]
fn tcp_asks_for_the_password() {
    let server = quick().tcp(true).start().expect("starts");
    let url = server.url("postgres");
    assert!(url.contains("@127.0.0.1:"), "{url}");
    psql(&server, &url, "select 1");
    let stranger = url.replace("fairgate:", "fairgate:x");
    let output =
        Command::new(server.bin_dir().join("psql")).args(["-XAtqwc", "select 1", "-d", &stranger]).output();
    if let Ok(output) = output {
        assert!(!output.status.success(), "a wrong password was accepted");
    }
}

#[test]
fn a_server_that_cannot_start_quotes_its_log_and_leaves_nothing_behind() {
    let error = quick().setting("work_mem", "much").start().expect_err("not a size");
    let Error::Start { log, tail } = &error else { panic!("{error}") };
    assert!(tail.contains("work_mem"), "{tail}");
    assert!(!log.exists());
}

#[test]
fn data_of_another_version_is_refused_with_both_named() {
    let scratch = Scratch::new("version");
    quick().dir(&scratch.0).start().expect("starts").stop().expect("stops");
    fs::write(scratch.0.join("data/PG_VERSION"), "11\n").expect("writable");
    let error = quick().dir(&scratch.0).start().expect_err("too old");
    assert!(matches!(&error, Error::OtherVersion { data, .. } if data == "11"), "{error}");
}

#[test]
fn a_killed_owner_takes_its_server_and_its_throw_away_data_along() {
    let owner = Owner::start(None);
    assert!(server_runs(owner.server) && owner.dir.exists());
    let (server, dir) = (owner.server, owner.dir.clone());
    owner.kill();
    wait_until("server and folder are gone", || !server_runs(server) && !dir.exists());
}

#[test]
fn a_killed_owners_folder_can_be_used_again_at_once() {
    let scratch = Scratch::new("killed");
    let owner = Owner::start(Some(&scratch.0));
    let before = owner.server;
    owner.kill();
    let server = quick().dir(&scratch.0).start().expect("waits for the clean-up, then starts");
    assert!(!server_runs(before) && server_runs(server.server_pid()));
}

#[test]
fn a_server_whose_owner_and_supervisor_were_killed_is_stopped_and_replaced() {
    let scratch = Scratch::new("orphan");
    let owner = Owner::start(Some(&scratch.0));
    let orphan = owner.server;
    owner.kill_with_supervisor();
    assert!(server_runs(orphan));
    let (builder, notices) = noting(quick().dir(&scratch.0));
    let server = builder.start().expect("takes over");
    assert!(!server_runs(orphan));
    let told = Notice::StoppedLeftover { path: scratch.0.clone(), pid: orphan };
    assert_eq!(*notices.lock().expect("unpoisoned"), [told]);
    server.stop().expect("stops");
}

#[test]
fn a_stale_pid_file_of_another_process_is_cleared() {
    let scratch = Scratch::new("stale");
    quick().dir(&scratch.0).start().expect("starts").stop().expect("stops");
    let mine = std::process::id();
    let text = format!("{mine}\n{}\n1700000000\n5432\n/nowhere\n", scratch.0.join("data").display());
    fs::write(pid_file(&scratch.0), text).expect("writable");
    let (builder, notices) = noting(quick().dir(&scratch.0));
    builder.start().expect("starts");
    assert_eq!(*notices.lock().expect("unpoisoned"), [Notice::Recovering { path: scratch.0.clone() }]);
}

#[test]
fn a_long_path_gets_a_short_socket() {
    let scratch = Scratch::new("long");
    let dir = scratch.0.join("very-long-name-".repeat(10));
    let server = quick().dir(&dir).start().expect("starts");
    assert!(server.socket_dir().as_os_str().len() < 90, "{:?}", server.socket_dir());
    psql(&server, &server.url("postgres"), "select 1");
    let socket = server.socket_dir().to_owned();
    server.stop().expect("stops");
    assert!(!socket.exists());
}

#[test]
fn the_server_has_a_process_session_of_its_own() {
    let server = quick().start().expect("starts");
    if let Ok(stat) = fs::read_to_string(format!("/proc/{}/stat", server.server_pid())) {
        let after_name = stat.rsplit(") ").next().expect("the name ends in a bracket");
        let session = after_name.split(' ').nth(3).expect("the fourth field is the session");
        assert_eq!(session, server.server_pid().to_string());
    }
}

#[test]
fn a_folder_that_the_servers_account_cannot_enter_is_replaced_and_said_so() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("closed");
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o700)).expect("ours");
    let (builder, notices) = noting(quick().dir(scratch.0.join("cluster")));
    let server = builder.start().expect("starts");
    let used = server.dir().to_owned();
    let notices = notices.lock().expect("unpoisoned").clone();
    server.stop().expect("stops");
    match notices.as_slice() {
        // Not root: the server runs as ourselves, who can enter.
        [] => assert!(used.starts_with(&scratch.0)),
        [Notice::Moved { used: said, .. }] => {
            assert!(used == *said && used.starts_with("/var/tmp") && !scratch.0.join("cluster").exists());
            fs::remove_dir_all(used).expect("left for the next start, and ours");
        }
        other => panic!("{other:?}"),
    }
}
