//! The four doors of staging do the same, for whoever may use them.

use fairgate::AdmissionId;
use fairgate::track::{End, finished};
use sqlx::AssertSqlSafe;

use crate::doors::{DOORS, Draft};
use crate::world::{World, open, policy, queued};

#[tokio::test]
async fn the_same_jobs_are_gated_alike_by_every_door() {
    for sharded in [true, false] {
        gated_alike(sharded).await;
    }
}

async fn gated_alike(sharded: bool) {
    let rules = |name: &str| {
        let rules = policy(name).concurrency(|c| c.max_from("max", None));
        if sharded { rules.shard_by("region") } else { rules }.build().expect("a policy")
    };
    let names = ["rust_one", "rust_many", "sql_one", "sql_many"];
    let mut world = World::new(names.iter().map(|n| rules(n)).collect()).await;
    let run_at = world.after_ms(3_600_000).await;
    let drafts = |tenant: &str| {
        let context = |max: i32| {
            format!(r#"{{"tenant":"{tenant}","region":"eu","max":{max}, "n":1e2, "priority":"mine"}}"#)
        };
        vec![
            Draft { priority: 5, ..Draft::new(context(1)) },
            Draft {
                priority: -5,
                max_attempts: Some(3),
                queue_name: Some("q".into()),
                ..Draft::new(context(3))
            },
            Draft { run_at: Some(run_at), ..Draft::new(context(2)) },
            Draft { payload: "[1, 2]".to_owned(), ..Draft::new(context(2)) },
        ]
    };
    for (door, name) in DOORS.into_iter().zip(names) {
        for tenant in ["a", "b"] {
            door.stage(&mut *world.conn().await, name, &drafts(tenant)).await.expect("staged");
        }
    }
    world.absorb().await;
    let rows = |of: &str| {
        format!(
            "SELECT json_build_array(task, priority, run_at, queue_name, max_attempts, payload, context, partition_key, ready)::text
               FROM fairgate.staged_jobs WHERE policy = '{of}' ORDER BY 1"
        )
    };
    let partitions = |of: &str| {
        format!(
            "SELECT json_build_array(key, shard, pending, future, in_flight, context, admitted, denial)::text
               FROM fairgate.partitions WHERE policy = '{of}' ORDER BY 1"
        )
    };
    let queue = |of: &str| {
        format!(
            "SELECT json_build_array(j.priority, j.max_attempts, j.payload, j.flags #>> '{{fairgate,p}}')::text
               FROM graphile_worker._private_jobs j WHERE j.flags #>> '{{fairgate,policy}}' = '{of}' ORDER BY 1"
        )
    };
    let before = world.column(&rows("rust_one")).await;
    assert_eq!(before.len(), 8);
    for name in names {
        assert_eq!(world.column(&rows(name)).await, before, "{name}");
    }
    assert_eq!(world.settle().await, 4 * 2 * 2, "the newest context says 2");
    let (kept, sent) = (world.column(&partitions("rust_one")).await, world.column(&queue("rust_one")).await);
    for name in names {
        assert_eq!(world.column(&partitions(name)).await, kept, "{name}");
        assert_eq!(world.column(&queue(name)).await, sent, "{name}");
    }
    assert_eq!(queued(&mut *world.conn().await, "a").await, 8);
    world.audit().await;
}

#[tokio::test]
async fn a_producer_needs_usage_on_the_schema_and_nothing_else() {
    let mut world = World::new(vec![open("p")]).await;
    let role = format!("p_{}", world.db.name());
    world.execute(&format!("CREATE ROLE {role}; GRANT USAGE ON SCHEMA fairgate TO {role}")).await;
    let mut conn = world.db.connect().await;
    sqlx::raw_sql(AssertSqlSafe(format!("SET ROLE {role}"))).execute(&mut conn).await.unwrap();
    for door in DOORS {
        door.stage(&mut conn, "p", &[Draft::of("a"), Draft::of("a")])
            .await
            .unwrap_or_else(|e| panic!("{door:?}: {e}"));
    }
    let waiting =
        world.text("SELECT job_id::text FROM fairgate.staged ORDER BY 1 LIMIT 1").await.parse().unwrap();
    assert!(fairgate::cancel(&mut conn, fairgate::JobId::from_uuid(waiting)).await.unwrap());
    assert_eq!(world.settle().await, 7);
    let admission =
        world.text("SELECT admission_id::text FROM fairgate.in_flight LIMIT 1").await.parse().unwrap();
    assert!(finished(&mut conn, AdmissionId::from_uuid(admission), End::Success).await.unwrap());

    for forbidden in [
        "SELECT FROM fairgate.staged",
        "SELECT FROM fairgate.policies",
        "DELETE FROM fairgate.in_flight",
        "SELECT fairgate.absorb(1, '{}', NULL)",
        "SELECT fairgate.promote(1, NULL)",
        "SELECT fairgate.release(NULL, 'success')",
        "SELECT fairgate.locked_partitions('{}')",
        "SELECT fairgate.enqueue_1('p', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
        "SELECT fairgate.graphile_worker_deleted()",
    ] {
        let refused = sqlx::query(forbidden).execute(&mut conn).await.unwrap_err();
        let what =
            if forbidden.contains('(') { "permission denied for function" } else { "permission denied for" };
        assert!(refused.to_string().contains(what), "{forbidden}: {refused}");
    }
    world.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
}
