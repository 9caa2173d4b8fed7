DELETE FROM procrastinate_jobs WHERE task_name = 'fairgate_demo_deliver'
