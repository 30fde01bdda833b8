-- whether a turn begins by merging the base branch
alter table job_turns add column merge_base boolean not null default false;
-- the base commit before such a merge, until a commit of the job's branch contains it
alter table jobs add column merged_from text;
