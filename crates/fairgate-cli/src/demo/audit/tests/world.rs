use std::sync::Arc;

use chrono::{DateTime, Utc};
use fairgate::registry::{Options, QueueSpec, Source, apply};
use fairgate::{NewJob, queue::GraphileWorker, stage_many};
use fairgate_testkit::TestDb;
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::{Finding, audit};
use crate::demo::rules::{QUEUE, Route};
use crate::demo::tenants::Tenants;
use crate::demo::walk::Walk;
use crate::demo::{install, record};

/// A database with the demo's record, and the busiest owner, whose jobs are admitted by hand.
pub(super) struct World {
    pub(super) db: TestDb,
    pub(super) begun: DateTime<Utc>,
    tenants: Tenants,
    owner: String,
}

type Job = (Uuid, Route);

impl World {
    pub(super) async fn new() -> Self {
        let db = TestDb::new().await;
        let mut conn = db.connect().await;
        let queue = GraphileWorker::new("graphile_worker").unwrap();
        let queue = QueueSpec { name: QUEUE.parse().unwrap(), queue: Arc::new(queue), max_waiting: None };
        let options = Options { source: Source::Code, revision: None, hooks: true, go_back: true };
        apply(&mut conn, &[queue], &install::policies().unwrap(), options).await.unwrap();
        let walk = Walk::recorded();
        let tenants = Tenants::of(&walk);
        record::open(&mut conn, &tenants).await.unwrap();
        let begun = sqlx::query_scalar("SELECT now()").fetch_one(&mut conn).await.unwrap();
        Self { db, begun, tenants, owner: walk.owners[0].clone() }
    }

    fn place(&self, route: Route) -> usize {
        self.tenants.place(route, &self.owner).unwrap()
    }

    async fn conn(&self) -> sqlx::pool::PoolConnection<sqlx::Postgres> {
        self.db.pool().acquire().await.unwrap()
    }

    /// Jobs that the record knows, gone from staging as if they had been admitted.
    pub(super) async fn staged(&self, route: Route, count: usize) -> Vec<Job> {
        let jobs: Vec<Uuid> = (0..count).map(|_| Uuid::new_v4()).collect();
        let place = self.place(route);
        let rows: Vec<(Uuid, usize)> = jobs.iter().map(|&job| (job, place)).collect();
        record::staged(&mut *self.conn().await, &rows).await.unwrap();
        jobs.into_iter().map(|job| (job, route)).collect()
    }

    /// Jobs that wait in staging, as the engine stages them.
    pub(super) async fn wait(&self, route: Route, count: usize) {
        let job = NewJob::new("x").context(&route.context(&self.owner, 0)).unwrap();
        let mut conn = self.conn().await;
        let staged = stage_many(&mut conn, route.policy(), &vec![job; count]).await.unwrap();
        let place = self.place(route);
        let rows: Vec<(Uuid, usize)> = staged.iter().map(|s| (s.job_id.as_uuid(), place)).collect();
        record::staged(&mut conn, &rows).await.unwrap();
    }

    /// Admits jobs in a transaction of their own, now.
    pub(super) async fn admit(&self, jobs: &[Job]) -> Vec<Uuid> {
        self.admit_in(&mut *self.conn().await, jobs).await
    }

    pub(super) async fn admit_in(&self, conn: &mut PgConnection, jobs: &[Job]) -> Vec<Uuid> {
        self.insert(conn, jobs, None).await
    }

    /// Admits jobs with a time of the test's choice.
    pub(super) async fn admit_at(&self, jobs: &[Job], at: DateTime<Utc>) -> Vec<Uuid> {
        self.insert(&mut *self.conn().await, jobs, Some(at)).await
    }

    async fn insert(&self, conn: &mut PgConnection, jobs: &[Job], at: Option<DateTime<Utc>>) -> Vec<Uuid> {
        sqlx::query_scalar(
            "INSERT INTO fairgate.in_flight (admission_id, job_id, partition_id, policy_id, queue_id, admitted_at, queue_job_id, limits)
             SELECT gen_random_uuid(), u.job, fairgate.partition_id(p.id, $3), p.id, p.queue_id, coalesce($4, clock_timestamp()), '0', '{}'
               FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY u (job, policy, n) JOIN fairgate.policy p ON p.name = u.policy
              ORDER BY u.n
             RETURNING admission_id",
        )
        .bind(jobs.iter().map(|(job, _)| *job).collect::<Vec<_>>())
        .bind(jobs.iter().map(|(_, route)| route.policy()).collect::<Vec<_>>())
        .bind(&self.owner)
        .bind(at)
        .fetch_all(conn)
        .await
        .unwrap()
    }

    /// A slot in a partition that is none of the demo's.
    pub(super) async fn admit_somebody_elses(&self) {
        sqlx::raw_sql(
            "INSERT INTO fairgate.in_flight (admission_id, job_id, partition_id, policy_id, queue_id, admitted_at, queue_job_id, limits)
             SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, 0, 'epoch', '0', '{}' FROM generate_series(1, 50);
             DELETE FROM fairgate.in_flight",
        )
        .execute(self.db.pool())
        .await
        .unwrap();
    }

    /// Gives slots back in a transaction of their own.
    pub(super) async fn release(&self, admissions: &[Uuid]) {
        self.release_in(&mut *self.conn().await, admissions).await;
    }

    pub(super) async fn release_in(&self, conn: &mut PgConnection, admissions: &[Uuid]) {
        sqlx::query("DELETE FROM fairgate.in_flight WHERE admission_id = ANY ($1)")
            .bind(admissions)
            .execute(conn)
            .await
            .unwrap();
    }

    /// The endpoint receives jobs.
    pub(super) async fn receive(&self, jobs: &[Job]) {
        let rows: Vec<_> = jobs
            .iter()
            .map(|(job, route)| crate::demo::endpoint::Received {
                job: *job,
                place: self.place(*route),
                at: self.begun,
            })
            .collect();
        record::received(&mut *self.conn().await, &rows).await.unwrap();
    }

    async fn findings(&self) -> Vec<Finding> {
        audit(&mut *self.conn().await).await.unwrap().findings
    }

    /// What the audit finds, with its count.
    pub(super) async fn audit(&self) -> Vec<(&'static str, i64)> {
        let found = self.findings().await;
        found.into_iter().map(|f| (f.check, f.violations)).filter(|(_, count)| *count > 0).collect()
    }

    /// The audit's words about one check.
    pub(super) async fn example(&self, check: &str) -> String {
        let found = self.findings().await;
        found.into_iter().find(|f| f.check == check).and_then(|f| f.example).unwrap_or_default()
    }
}
