-- $1 GitHub's id, $2 kind.
SELECT CASE $2 WHEN 'actor' THEN (SELECT row_to_json(a)::text FROM pushfeed.actors a WHERE a.id = e.id)
               ELSE (SELECT row_to_json(r)::text FROM pushfeed.repositories r WHERE r.id = e.id) END
  FROM pushfeed.entity e WHERE e.kind = $2 AND e.id = $1
