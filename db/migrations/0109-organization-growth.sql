-- How much the snapshots and conversations of organizations grow or shrink. Each change appends a row, so writers never wait for
-- each other; retention adds them to the organization's own totals.
create table organization_growth (
  organization_id text not null,
  snapshot_bytes bigint not null default 0,
  threads integer not null default 0
);

alter table organizations
  add column threads bigint not null default 0,
  -- when the job was created up to which retention has removed snapshots; null to begin with the oldest
  add column snapshots_removed_to timestamptz;

-- Appends nothing for a job that is being deleted: count_deleted_job_snapshots has counted all that it had.
create function grow_snapshots(changed_job text, bytes bigint) returns void
language sql
as $$
  insert into organization_growth (organization_id, snapshot_bytes)
  select organization_id, bytes from jobs where id = changed_job and bytes <> 0
$$;

create function count_snapshot() returns trigger
language plpgsql
as $$
begin
  perform grow_snapshots(
    coalesce(new.job_id, old.job_id),
    coalesce(octet_length(new.pack) + octet_length(new.patch), 0) - coalesce(octet_length(old.pack) + octet_length(old.patch), 0));
  return null;
end
$$;

create trigger count_snapshot after insert or update of pack, patch or delete on job_snapshots
for each row execute function count_snapshot();

create function count_step_patch() returns trigger
language plpgsql
as $$
begin
  perform grow_snapshots(
    coalesce(new.job_id, old.job_id), coalesce(octet_length(new.patch), 0) - coalesce(octet_length(old.patch), 0));
  return null;
end
$$;

create trigger count_new_step_patch after insert on job_steps
for each row when (new.patch is not null) execute function count_step_patch();
create trigger count_step_patch after update of patch on job_steps
for each row when (octet_length(old.patch) is distinct from octet_length(new.patch)) execute function count_step_patch();
create trigger count_deleted_step_patch after delete on job_steps
for each row when (old.patch is not null) execute function count_step_patch();

create function count_deleted_job_snapshots() returns trigger
language plpgsql
as $$
begin
  perform grow_snapshots(old.id, -(
    select coalesce(sum(octet_length(pack) + octet_length(patch)), 0) from job_snapshots where job_id = old.id
  )::bigint - (
    select coalesce(sum(octet_length(patch)), 0) from job_steps where job_id = old.id and patch is not null
  )::bigint);
  return old;
end
$$;

create trigger count_deleted_job_snapshots before delete on jobs
for each row execute function count_deleted_job_snapshots();

create function count_threads() returns trigger
language plpgsql
as $$
begin
  insert into organization_growth (organization_id, threads)
  select organization_id, case tg_op when 'INSERT' then count(*) else -count(*) end from changed group by organization_id;
  return null;
end
$$;

create trigger count_new_threads after insert on threads
referencing new table as changed for each statement execute function count_threads();
create trigger count_deleted_threads after delete on threads
referencing old table as changed for each statement execute function count_threads();
