//! Every example of docs/policies.md, carried out.

use chrono::TimeDelta;
use fairgate::config::Config;
use fairgate::registry::{Options, QueueSpec, Source};
use fairgate::{NewJob, StageError, Ticker};
use fairgate_testkit::TestDb;
use serde_json::{Value, json};

use crate::world::World;

const DOCUMENT: &str = include_str!("../../../../docs/policies.md");

/// The fenced blocks of one kind, with the heading that they stand under.
fn blocks(kind: &str) -> Vec<(String, String)> {
    let (mut found, mut heading, mut open) = (Vec::new(), String::new(), None::<String>);
    for line in DOCUMENT.lines() {
        match (&mut open, line) {
            (Some(_), "```") => found.extend(open.take().map(|text| (heading.clone(), text))),
            (Some(text), line) => *text += &format!("{line}\n"),
            (None, line) if line == format!("```{kind}") => open = Some(String::new()),
            (None, line) => {
                if let Some(title) = line.strip_prefix("## ") {
                    title.clone_into(&mut heading);
                }
            }
        }
    }
    found
}

struct Example {
    world: World,
    policy: String,
    passed: TimeDelta,
}

impl Example {
    async fn new(toml: &str) -> Self {
        let queue = "[queues.main]\ntype = \"graphile_worker\"\nmax_waiting = 0\n";
        let text = if toml.contains("[queues.main]") { toml.to_owned() } else { format!("{queue}{toml}") };
        let config = Config::parse(&text, "policies.md").unwrap_or_else(|e| panic!("{toml}: {e:?}"));
        let db = TestDb::new().await;
        let queues: Vec<QueueSpec> = config
            .queues
            .iter()
            .map(|queue| QueueSpec {
                name: queue.name.clone(),
                queue: fairgate::queue::adapter(&queue.kind, None, &queue.settings).expect("known").into(),
                max_waiting: queue.max_waiting,
            })
            .collect();
        let options = Options { source: Source::File, revision: None, hooks: true, go_back: false };
        let mut conn = db.connect().await;
        fairgate::registry::apply(&mut conn, &queues, &config.policies, options).await.expect("applied");
        let ticker = Ticker::builder(db.pool().clone()).settings(config.engine).build().expect("a ticker");
        let policy = config.policies[0].name().to_string();
        Self { world: World { db, ticker }, policy, passed: TimeDelta::zero() }
    }

    async fn carry_out(&mut self, line: &str) {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let number = |at: usize| words[at].parse::<i64>().unwrap_or_else(|_| panic!("{line}: a number"));
        match words.as_slice() {
            ["stage", tenant, _, rest @ ..] => {
                self.stage(tenant, number(2), rest.first().copied()).await.expect(line);
            }
            ["refused", tenant] => {
                let refused = self.stage(tenant, 1, None).await;
                assert!(matches!(refused, Err(StageError::BacklogFull { .. })), "{line}: {refused:?}");
            }
            ["kept", tenant, "key", key] => {
                let job = job(tenant, &json!({})).dedupe_key(*key);
                let staged = fairgate::stage(&mut *self.world.conn().await, self.policy.as_str(), &job).await;
                assert_eq!(staged.expect(line).outcome.as_str(), "kept", "{line}");
            }
            ["tick"] => while self.tick().await {},
            ["tick", "once"] => drop(self.tick().await),
            ["tick", _] => {
                for _ in 0..number(1) {
                    self.tick().await;
                }
            }
            ["after", time] => {
                let time = fairgate_core::duration::parse_duration(time).expect(line);
                self.passed += TimeDelta::from_std(time).expect(line);
            }
            ["handed", tenant, _] => assert_eq!(self.handed(tenant).await, number(2), "{line}"),
            ["shares", pairs @ ..] => {
                let pairs: Vec<&str> = pairs.iter().flat_map(|words| words.split(' ')).collect();
                let (one, other) = (self.handed(pairs[0]).await as f64, self.handed(pairs[2]).await as f64);
                let parts: Vec<f64> = [1, 3].iter().map(|&at| pairs[at].parse().expect(line)).collect();
                let due = (one + other) * parts[0] / (parts[0] + parts[1]);
                assert!((one - due).abs() <= 2.0 + 0.1 * due, "{line}: {one} and {other}");
            }
            ["finish", tenant, _] => {
                let done = self.begin(tenant, number(2)).await;
                self.world
                    .execute(&format!("DELETE FROM graphile_worker._private_jobs WHERE id IN ({done})"))
                    .await;
            }
            ["fail", tenant, _] => {
                let failed = self.begin(tenant, number(2)).await;
                self.world.execute(&format!("UPDATE graphile_worker._private_jobs SET locked_at = NULL, run_at = now() + interval '10 minutes' WHERE id IN ({failed})")).await;
            }
            _ => panic!("{line}: no such step"),
        }
    }

    async fn stage(&self, tenant: &str, jobs: i64, rest: Option<&str>) -> Result<(), StageError> {
        let (key, context) = match rest {
            Some(rest) => match rest.strip_prefix("key ") {
                Some(key) => (Some(key), json!({})),
                None => (None, serde_json::from_str(rest).expect("a context")),
            },
            None => (None, json!({})),
        };
        let job = job(tenant, &context);
        let job = if let Some(key) = key { job.dedupe_key(key) } else { job };
        let jobs: Vec<NewJob> = (0..jobs).map(|_| job.clone()).collect();
        let staged = fairgate::stage_many(&mut *self.world.conn().await, self.policy.as_str(), &jobs).await?;
        assert!(staged.iter().all(|staged| staged.outcome.as_str() == "staged"));
        Ok(())
    }

    /// Whether anything went.
    async fn tick(&mut self) -> bool {
        let now = self.world.after_ms(self.passed.num_milliseconds()).await;
        self.world.pass_at(now).await.ticks.jobs_admitted > 0
    }

    async fn handed(&self, tenant: &str) -> i64 {
        self.world
            .number(&format!(
                "SELECT coalesce(sum(admitted), 0)::bigint FROM fairgate.partitions WHERE key = '{tenant}'"
            ))
            .await
    }

    /// Workers begin the tenant's oldest jobs; their ids.
    async fn begin(&self, tenant: &str, jobs: i64) -> String {
        let ids = format!(
            "SELECT id::text FROM graphile_worker._private_jobs WHERE flags #>> '{{fairgate,p}}' = '{tenant}' AND locked_at IS NULL ORDER BY id LIMIT {jobs}"
        );
        let ids = self.world.column(&ids).await;
        assert_eq!(ids.len() as i64, jobs, "the queue has so many jobs of {tenant}");
        let ids = ids.join(", ");
        self.world.execute(&format!("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = attempts + 1 WHERE id IN ({ids})")).await;
        ids
    }
}

fn job(tenant: &str, context: &Value) -> NewJob {
    let mut context = context.clone();
    context["tenant"] = tenant.into();
    NewJob::new("work").context(&context).expect("an object")
}

#[tokio::test]
async fn every_example_of_the_policies_document_does_what_it_says() {
    let (configurations, examples) = (blocks("toml"), blocks("example"));
    assert!(configurations.len() >= 11, "{}", configurations.len());
    assert_eq!(
        configurations.iter().map(|(heading, _)| heading).collect::<Vec<_>>(),
        examples.iter().map(|(heading, _)| heading).collect::<Vec<_>>(),
        "every configuration has its steps"
    );
    for ((heading, toml), (_, steps)) in configurations.iter().zip(&examples) {
        eprintln!("{heading}");
        let mut example = Example::new(toml).await;
        for line in steps.lines() {
            eprintln!("  {line}");
            example.carry_out(line).await;
        }
        example.world.audit().await;
    }
}
