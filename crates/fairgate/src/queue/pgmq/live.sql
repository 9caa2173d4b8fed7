-- Which of the admissions ($1) have a message. The ids of the queue ($2) are our jobs' own.
SELECT l.admission FROM (SELECT $2::text[]) unused CROSS JOIN LATERAL fairgate.pgmq_live({text}, $1::uuid[]) l (admission)
