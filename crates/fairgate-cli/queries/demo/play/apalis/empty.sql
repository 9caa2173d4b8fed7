DELETE FROM apalis.jobs WHERE job_type = 'fairgate_demo_deliver'
