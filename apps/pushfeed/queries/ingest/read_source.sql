SELECT out_of_service, etag, last_finished_at, last_succeeded_at, floor_seconds, floor_until, failures, backoff_until
  FROM pushfeed.source WHERE name = $1
