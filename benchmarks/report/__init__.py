"""One page on time, memory and quality beside the peers, for tables of 1,800 to 1,000,000 rows."""
