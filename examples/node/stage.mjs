// A producer in Node: an order and the job that announces it, in one transaction.
import pg from 'pg';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
await client.query('CREATE TABLE IF NOT EXISTS public.orders (id bigserial PRIMARY KEY, account_id int NOT NULL)');

/** Writes an order and stages its job; returns the job's id. */
async function order(accountId) {
  const { rows } = await client.query('INSERT INTO public.orders (account_id) VALUES ($1) RETURNING id', [accountId]);
  const staged = await client.query('SELECT job_id, outcome FROM fairgate.stage($1, $2, $3::json, $4::jsonb)', [
    'webhooks', // the policy
    'deliver', // the task that the queue's worker knows
    JSON.stringify({ order: rows[0].id }), // what the task is given, to the byte
    JSON.stringify({ account_id: accountId }), // what the policy's templates and gates read
  ]);
  return staged.rows[0].job_id;
}

await client.query('BEGIN');
const job = await order(7);
await client.query('COMMIT');
console.log(`staged ${job}`);

// A transaction that is rolled back stages nothing.
await client.query('BEGIN');
await order(8);
await client.query('ROLLBACK');

// Many at once, in one call.
const jobs = [1, 2, 3].map((n) => ({ task: 'deliver', payload: { n }, context: { account_id: n }, priority: n }));
const many = await client.query('SELECT ordinal, job_id, outcome FROM fairgate.stage_many($1, $2::json)', ['webhooks', JSON.stringify(jobs)]);
console.log(`staged ${many.rowCount} more`);
await client.end();
