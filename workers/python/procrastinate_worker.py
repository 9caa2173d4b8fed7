"""An unchanged Procrastinate worker, with the retrying of stalled jobs that its documentation asks for."""

import asyncio
import os
import signal

import psycopg_pool
from procrastinate import App, PsycopgConnector, RetryStrategy

URL = os.environ["DATABASE_URL"]
app = App(connector=PsycopgConnector(conninfo=URL, kwargs={"options": "-c search_path=public"}))
notes = psycopg_pool.AsyncConnectionPool(URL, open=False, max_size=10)


@app.task(name="work", retry=RetryStrategy(max_attempts=5, wait=1))
async def work(n, tenant, fail):
    """Notes that it ran, fails when it is told to, and once takes its whole process with it."""
    async with notes.connection() as conn:
        row = await conn.execute(
            "INSERT INTO public.ran (n, tenant) VALUES (%s, %s) RETURNING id, (SELECT count(*) FROM public.ran WHERE n = %s)", (n, tenant, n)
        )
        id, before = await row.fetchone()
        await conn.commit()
        if fail < 0 and before == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        await conn.execute("UPDATE public.ran SET ended = clock_timestamp() WHERE id = %s", (id,))
    if before < fail:
        raise RuntimeError(f"job {n} fails on purpose")


async def retry_stalled():
    while True:
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=3):
            await app.job_manager.retry_job(job)
        await asyncio.sleep(1)


async def main():
    await notes.open()
    async with app.open_async():
        print("ready", flush=True)
        await asyncio.gather(retry_stalled(), app.run_worker_async(concurrency=10, update_heartbeat_interval=1, stalled_worker_timeout=3))


asyncio.run(main())
