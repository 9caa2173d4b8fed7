CREATE INDEX IF NOT EXISTS river_job_fetch ON public.river_job (state, queue, priority, scheduled_at, id)
