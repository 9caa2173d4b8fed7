import { run } from 'graphile-worker';
import pg from 'pg';
import { work } from './task.mjs';

const connectionString = process.env.DATABASE_URL;
// What a person does after a crash, who does not want to wait four hours for the locks to lapse. No other worker runs.
const admin = new pg.Client({ connectionString });
await admin.connect();
await admin.query('SELECT graphile_worker.force_unlock_workers(array_agg(locked_by)) FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL');
await admin.end();
console.log('ready');
const runner = await run({ connectionString, concurrency: 20, pollInterval: 500, noHandleSignals: true, taskList: { work } });
await runner.promise;
