UPDATE apalis.jobs SET status = 'Done', attempts = attempts + 1, last_result = '{"Ok": null}', done_at = now() WHERE id = $1
