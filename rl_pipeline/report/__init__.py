"""Results of the analysis to views, and views to pages, pictures and numbers; no statistic of its own."""
