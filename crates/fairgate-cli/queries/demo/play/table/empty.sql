DELETE FROM public.river_job WHERE kind = 'fairgate_demo_deliver'
