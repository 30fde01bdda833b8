-- what a turn left undone, and how its pull request and its check stand
alter table jobs add column incomplete text;
alter table jobs add column pr_draft boolean;
alter table jobs add column check_result jsonb;
