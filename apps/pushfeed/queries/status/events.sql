SELECT (SELECT count(*) FROM pushfeed.push_event) AS persisted, (SELECT count(*) FROM pushfeed.quarantined_event) AS quarantined,
       EXISTS (SELECT FROM pushfeed.run WHERE finished_at IS NULL) AS polling
