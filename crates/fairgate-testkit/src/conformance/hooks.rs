//! Our triggers on the queue's tables.

use fairgate::doctor::{self, Severity};
use fairgate::registry::{QueueState, uninstall_hooks};

use super::Protocol;
use super::world::{World, filled, job, policy, run};

/// Neither takes a slot or a job with it.
pub async fn hooks_are_installed_and_removed_while_jobs_run(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    let (first, second) = (world.fetched().await, world.fetched().await);
    uninstall_hooks(&mut world.conn().await, world.queue()).await.expect("unhooked");
    let left = "SELECT tgname::text FROM pg_trigger WHERE tgname LIKE '%fairgate%'";
    assert_eq!(world.texts(left).await, [""; 0]);
    world.does(world.protocol.succeed, &first).await;
    assert_eq!(world.in_flight().await, 2);
    assert_eq!(
        world.apply(&[policy().build().expect("a policy")]).await.expect("applied"),
        QueueState::Ready
    );
    assert_ne!(world.texts(left).await, [""; 0]);
    world.does(world.protocol.succeed, &second).await;
    assert_eq!(world.in_flight().await, 1, "the first ended unseen");
    world.sweep().await;
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
    world.admitted(2).await;
}

/// What a hook cannot write the sweep repairs.
pub async fn a_hook_that_cannot_do_its_work_never_fails_the_worker(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    for fault in
        ["DROP FUNCTION fairgate.release(uuid, text)", "ALTER TABLE fairgate.in_flight RENAME TO gone"]
    {
        world.admitted(1).await;
        world.execute(fault).await;
        let fetched = world.fetched().await;
        world.does(world.protocol.succeed, &fetched).await;
        assert_eq!(world.queued().await.len(), 0, "{fault}");
        if fault.starts_with("ALTER") {
            world.execute("ALTER TABLE fairgate.gone RENAME TO in_flight").await;
        }
        world.sweep().await;
        assert_eq!(world.in_flight().await, 0, "{fault}");
    }
}

/// The hooks run with the rights of who made them.
pub async fn a_worker_without_rights_on_our_schema_frees_slots(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    let role = format!("w_{}", world.db.name());
    let role = &role[..role.len().min(60)];
    let schema = world.queue().schema().to_string();
    world
        .execute(&format!(
            "CREATE ROLE {role} BYPASSRLS; GRANT USAGE ON SCHEMA {schema} TO {role};
             GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {role};
             GRANT ALL ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}"
        ))
        .await;
    let mut worker = world.conn().await;
    run(&mut worker, &format!("SET ROLE {role}")).await.expect("the role");
    let refused = run(&mut worker, "SELECT FROM fairgate.in_flight").await.expect_err("no rights");
    assert!(refused.to_string().contains("permission denied for schema fairgate"), "{refused}");
    let fetched = world.fetch_on(&mut worker).await.expect("a job");
    run(&mut worker, &filled(world.protocol.succeed, &fetched.id)).await.expect("ended");
    assert_eq!(world.in_flight().await, 1);
    let fetched = world.fetch_on(&mut worker).await.expect("a job");
    run(&mut worker, &filled(world.protocol.fail, &fetched.id)).await.expect("failed");
    world.audit().await;
    run(&mut worker, "RESET ROLE").await.expect("the owner again");
    run(&mut worker, &format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.expect("dropped");
}

/// Jobs wait in staging until it fits.
pub async fn tables_of_an_unknown_shape_are_refused_with_the_column_named(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    let (change, column) = world.protocol.misshape;
    world.execute(change).await;
    world.execute("UPDATE fairgate.queue SET ready = false, not_ready_reason = 'asked again'").await;
    let state = world.apply(&[policy().build().expect("a policy")]).await.expect("applied");
    let QueueState::Misfit { problems } = &state else { panic!("{state:?}") };
    assert!(problems.join("\n").contains(column), "{problems:?}");
    world.stage(&[job(1)]).await;
    assert_eq!(world.pass().await.unwrap_or(0), 0);
    assert_eq!((world.staged().await, world.in_flight().await), (1, 0));
}

/// And says what to do.
pub async fn the_doctor_finds_a_sound_queue_sound_and_a_disabled_trigger(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(1).await;
    let of_queue = async |world: &World| -> Vec<(Severity, String)> {
        let findings = doctor::examine(&mut world.conn().await).await.expect("findings");
        let ours = findings.into_iter().filter(|finding| finding.check == "queue main");
        ours.map(|finding| (finding.severity, finding.found)).collect()
    };
    let found = of_queue(&world).await;
    assert!(found.iter().all(|(severity, _)| *severity == Severity::Ok), "{found:?}");
    let tables = "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE '%fairgate%' AND tgparentid = 0";
    for table in world.texts(tables).await {
        world.execute(&format!("ALTER TABLE {table} DISABLE TRIGGER USER")).await;
    }
    let found = of_queue(&world).await;
    assert!(found.iter().any(|(severity, _)| *severity == Severity::Problem), "{found:?}");
}
