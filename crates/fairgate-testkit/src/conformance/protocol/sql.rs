use fairgate::queue::Pgmq;

use super::Protocol;

/// PGMQ, through its own functions. It has no failure: a message that is not ended in time is read again.
pub fn pgmq() -> Protocol {
    Protocol {
        queue: || Box::new(Pgmq::new("pgmq").expect("a name")),
        install: concat!(
            include_str!("../../../../fairgate-cli/fixtures/queues/pgmq/install.sql"),
            "\n;SELECT pgmq.create('work')"
        ),
        fetch: "SELECT msg_id::text, message::text FROM pgmq.read('work', 30, 1)",
        succeed: "SELECT pgmq.archive('work', {id})",
        fail: "SELECT FROM pgmq.set_vt('work', {id}, 0)",
        die: "SELECT pgmq.archive('work', {id})",
        remove: "SELECT pgmq.delete('work', {id})",
        purge: "SELECT pgmq.purge_queue('work')",
        vanish: "UPDATE pgmq.q_work SET vt = now() - interval '1 second'",
        rescue: "SELECT 1",
        ripen: "UPDATE pgmq.q_work SET vt = now()",
        revive: None,
        foreign: "SELECT pgmq.send('work', '{\"theirs\": true}')",
        rows: "SELECT to_json(m)::text FROM pgmq.q_work m",
        waiting: "SELECT msg_id::text FROM pgmq.q_work ORDER BY msg_id",
        admission: "SELECT headers #>> '{fairgate,a}' FROM pgmq.q_work WHERE msg_id = {id}",
        misshape: (
            "DROP FUNCTION pgmq.send_batch(text, jsonb[], jsonb[], timestamptz)",
            "the function send_batch(text, jsonb[], jsonb[], timestamptz) is not there",
        ),
        keeps_errors: false,
        backs_off: false,
    }
}
