-- lines of the change since the base commit; null: not counted
alter table job_snapshots add column additions integer;
alter table job_snapshots add column deletions integer;
