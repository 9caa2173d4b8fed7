SELECT version FROM pushfeed.migration WHERE success
