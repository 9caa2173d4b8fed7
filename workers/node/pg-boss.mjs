import PgBoss from 'pg-boss';
import { work } from './task.mjs';

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, maintenanceIntervalSeconds: 1, monitorStateIntervalSeconds: 1 });
boss.on('error', (error) => console.error(error.message));
await boss.start();
await boss.createQueue('work', { retryLimit: 4, retryDelay: 1, expireInSeconds: 3 });
console.log('ready');
// A handler of one job each: a batch would fail as a whole.
for (let i = 0; i < 30; i++) await boss.work('work', { pollingIntervalSeconds: 0.5, batchSize: 1 }, ([job]) => work(job.data));
