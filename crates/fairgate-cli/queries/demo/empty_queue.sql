-- What an earlier demo left in its queue; fairgate's trigger on the table gives the slots back.
DELETE FROM fairgate_demo_queue._private_jobs
