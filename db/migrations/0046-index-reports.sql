-- what the last index was built from: the documentation tool, pages by format, files left out
alter table sites add column index_report jsonb;
