-- when the steps and files of a job were removed, a time after it was archived
alter table jobs add column transcript_removed_at timestamptz;
