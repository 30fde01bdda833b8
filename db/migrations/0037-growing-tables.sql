-- lists by status, sweeps and chores read only the rows they return or delete
create index jobs_listed on jobs (organization_id, status, created_at desc, id desc);
create index jobs_archived on jobs (archived_at) where status = 'archived';
create index jobs_with_open_pull_request on jobs (pr_checked_at nulls first)
where status in ('completed', 'failed') and pr_id is not null and coalesce(pr_state, 'open') = 'open';
create index webhook_deliveries_pending on webhook_deliveries (message_id) where status = 'pending';
