// The task of every Node worker: notes that it ran, fails when it is told to, and once takes its whole process with it.
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });

/** `{ n, tenant, fail }`: a job fails in its first `fail` attempts; fail = -1 kills the worker in the first. */
export async function work({ n, tenant, fail }) {
  const began = await pool.query(
    'INSERT INTO public.ran (n, tenant) VALUES ($1, $2) RETURNING id, (SELECT count(*) FROM public.ran WHERE n = $1)::int AS before',
    [n, tenant],
  );
  const { id, before } = began.rows[0];
  if (fail < 0 && before === 0) process.kill(process.pid, 'SIGKILL');
  await pool.query('UPDATE public.ran SET ended = clock_timestamp() WHERE id = $1', [id]);
  if (before < fail) throw new Error(`job ${n} fails on purpose`);
}
