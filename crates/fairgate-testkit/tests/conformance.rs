//! Every adapter against the suite.

use fairgate_testkit::conformance::{self, Protocol};

fairgate_testkit::conformance!(graphile_worker);
fairgate_testkit::conformance!(pgmq);
fairgate_testkit::conformance!(apalis);
fairgate_testkit::conformance!(pg_boss);
fairgate_testkit::conformance!(procrastinate);
fairgate_testkit::conformance!(underway);
fairgate_testkit::conformance!(river);
fairgate_testkit::conformance!(oban);
fairgate_testkit::conformance!(good_job);
fairgate_testkit::conformance!(solid_queue);

mod own {
    use super::*;

    #[tokio::test]
    async fn a_job_for_a_queue_that_is_not_there_is_set_aside_alone() {
        let protocols: [fn() -> Protocol; 2] = [conformance::pg_boss, conformance::pgmq];
        for protocol in protocols {
            conformance::a_job_for_a_queue_that_is_not_there_is_set_aside_alone(protocol()).await;
        }
    }

    #[tokio::test]
    async fn a_pgmq_queue_that_is_made_later_is_hooked_with_its_first_job() {
        conformance::a_queue_that_is_made_later_is_hooked_with_its_first_job(conformance::pgmq()).await;
    }

    #[tokio::test]
    async fn pgmq_messages_that_are_ended_together_free_their_slots() {
        conformance::messages_that_are_ended_together_free_their_slots(conformance::pgmq()).await;
    }

    #[tokio::test]
    async fn a_changed_description_of_a_table_is_taken_up_by_a_running_ticker() {
        conformance::a_changed_description_is_taken_up_by_a_running_ticker(conformance::river()).await;
    }

    #[tokio::test]
    async fn an_old_ticket_goes_and_that_of_a_job_in_flight_stays() {
        conformance::an_old_ticket_goes_and_that_of_a_job_in_flight_stays(conformance::procrastinate()).await;
    }
}

/// A configuration that does not fit the table is found when it is applied, in the database's own words.
#[tokio::test]
async fn an_expression_that_the_table_does_not_know_is_refused_when_it_is_applied() {
    use fairgate::config::Config;
    use fairgate::registry::{Options, QueueSpec, QueueState, Source, apply};

    let db = fairgate_testkit::TestDb::without_queue().await;
    sqlx::raw_sql("CREATE TABLE public.jobs (id bigserial PRIMARY KEY, args jsonb, state text)")
        .execute(db.pool())
        .await
        .unwrap();
    let refusals = [
        ("columns = { args = \"paylod\" }", "column \"paylod\" does not exist"),
        ("columns = { args = \"payload\" }\nstarted = \"stat = 'x'\"", "column \"stat\" does not exist"),
        (
            "columns = { args = \"payload\" }\ndead = \"state\"",
            "argument of CASE/WHEN must be type boolean, not type text",
        ),
        ("columns = { args = \"payload\" }\nback = { payload = \"argz\" }", "column \"argz\" does not exist"),
        ("columns = { args = \"1\" }", "column \"args\" is of type jsonb but expression is of type integer"),
        ("columns = { args = \"payload\" }", ""),
    ];
    for (keys, expected) in refusals {
        let text = format!("[queues.q]\ntype = \"table\"\ntable = \"jobs\"\n{keys}\n");
        let queue = &Config::parse(&text, "f.toml").expect("it reads well").queues[0];
        let adapter = fairgate::queue::adapter(&queue.kind, None, &queue.settings).expect("an adapter");
        let spec = QueueSpec { name: queue.name.clone(), queue: adapter.into(), max_waiting: None };
        let options = Options { source: Source::Code, revision: None, hooks: true, go_back: false };
        let mut conn = db.connect().await;
        let (_, state) = apply(&mut conn, &[spec], &[], options).await.expect("applied").queues.remove(0);
        match state {
            QueueState::Refused { problem } => {
                assert!(problem.contains(expected) && !expected.is_empty(), "{problem}");
            }
            other => assert_eq!((other, expected), (QueueState::Ready, "")),
        }
    }
}
