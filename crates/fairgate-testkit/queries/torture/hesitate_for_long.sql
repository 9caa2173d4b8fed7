UPDATE torture.hesitation SET probability = 0.7, most_seconds = 0.15
