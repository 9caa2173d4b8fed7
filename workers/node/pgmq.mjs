// A consumer by PGMQ's own SQL: reads a message for three seconds, archives what ended well, and leaves what failed to be read again.
import pg from 'pg';
import { work } from './task.mjs';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
console.log('ready');
await Promise.all(Array.from({ length: 10 }, async () => {
  for (;;) {
    const { rows } = await pool.query("SELECT msg_id, message FROM pgmq.read('work', 3, 1)");
    if (rows.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const { msg_id, message } of rows) {
      try {
        await work(message);
        await pool.query("SELECT pgmq.archive('work', $1::bigint)", [msg_id]);
      } catch (error) {
        await pool.query("SELECT FROM pgmq.set_vt('work', $1::bigint, 0)", [msg_id]);
      }
    }
  }
}));
