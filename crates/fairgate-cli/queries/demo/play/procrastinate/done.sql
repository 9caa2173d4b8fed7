SELECT procrastinate_finish_job_v1($1::bigint, 'succeeded', true)
