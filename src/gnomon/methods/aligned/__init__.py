"""Maps of several tables, aligned by the rows that they share."""
