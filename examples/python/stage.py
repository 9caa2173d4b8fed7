"""A producer in Python: an order and the job that announces it, in one transaction."""

import json
import os

import psycopg


def order(conn, account_id):
    """Writes an order and stages its job; returns the job's id."""
    order_id = conn.execute("INSERT INTO public.orders (account_id) VALUES (%s) RETURNING id", (account_id,)).fetchone()[0]
    staged = conn.execute(
        "SELECT job_id, outcome FROM fairgate.stage(%s, %s, %s::json, %s::jsonb)",
        (
            "webhooks",  # the policy
            "deliver",  # the task that the queue's worker knows
            json.dumps({"order": order_id}),  # what the task is given, to the byte
            json.dumps({"account_id": account_id}),  # what the policy's templates and gates read
        ),
    )
    return staged.fetchone()[0]


with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
    conn.execute("CREATE TABLE IF NOT EXISTS public.orders (id bigserial PRIMARY KEY, account_id int NOT NULL)")
    conn.commit()

    with conn.transaction():
        job = order(conn, 7)
    print(f"staged {job}")

    # A transaction that is rolled back stages nothing.
    with conn.transaction(force_rollback=True):
        order(conn, 8)

    # Many at once, in one call.
    jobs = [{"task": "deliver", "payload": {"n": n}, "context": {"account_id": n}, "priority": n} for n in (1, 2, 3)]
    with conn.transaction():
        many = conn.execute("SELECT ordinal, job_id, outcome FROM fairgate.stage_many(%s, %s::json)", ("webhooks", json.dumps(jobs)))
        print(f"staged {len(many.fetchall())} more")
