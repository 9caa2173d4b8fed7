UPDATE public.river_job SET state = 'completed', finalized_at = now() WHERE id = $1::bigint AND state = 'running'
