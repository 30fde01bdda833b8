-- when the contents of a snapshot were removed, because others of its job or organization are newer and there is no room for all
alter table job_snapshots add column removed_at timestamptz;
-- what the snapshots of an organization take, as the chore that bounds them found
alter table organizations add column snapshot_bytes bigint not null default 0;

create trigger hold_snapshots after insert on jobs for each row execute function hold_quota(
  'snapshotGigabytes', 'select ceil(snapshot_bytes / 1073741824.0) from organizations where id = $1');
create trigger hold_snapshots_again after update of status on jobs for each row
when (old.status <> 'active' and new.status = 'active') execute function hold_quota(
  'snapshotGigabytes', 'select ceil(snapshot_bytes / 1073741824.0) from organizations where id = $1');

-- conversations of an organization, the newest first
drop index threads_organization_id_idx;
create index threads_newest on threads (organization_id, updated_at desc);
create index audit_entries_old on audit_entries (created_at);
