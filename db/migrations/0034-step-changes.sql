-- what a step changed itself, as a patch; null: nothing, not kept any more, or the step is older than this column
alter table job_steps add column patch text;
create index job_steps_patches on job_steps (job_id, tree) where patch is not null;
