            -- It waits again: after a failed attempt or its worker's loss, revived after its end, or given back by a worker that counts no attempt.
            SELECT {back}, ({failed}) AS failed INTO back FROM (SELECT row_now.*) r;
            SELECT ({attempts})::int INTO attempts_before FROM (SELECT OLD.*) r;
            IF (was IN ('dead', 'removed') OR (back.failed AND back.attempts >= attempts_before))
               AND fairgate.ticket_back(place, queue_id, back.payload, back.priority, back.run_at, back.attempts, back.max_attempts, back.error,
                   was IN ('dead', 'removed')) THEN
                -- The queue's own triggers may name its tables without their schema; nothing else here may be looked up there.
                PERFORM set_config('search_path', 'pg_catalog, {schema}', true);
                DELETE FROM {table} r WHERE {same};
                PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
            ELSE
                PERFORM fairgate.ticket_returned(place, queue_id);
            END IF;
