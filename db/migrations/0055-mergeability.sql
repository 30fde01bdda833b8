-- how a person wants a pull request of the local forge merged; workers of the previous version make a merge commit
alter table pull_requests add column merge_method text not null default 'merge';
alter table pull_requests add column deletes_branch boolean not null default false;
-- whether it could be merged: {"problem": sentence or null, "conflicts": [path, ...], "checkedAt": time}
alter table pull_requests add column mergeability jsonb;
alter table pull_requests add column check_requested_at timestamptz;
alter table pull_requests add column check_claimed_at timestamptz;
create index pull_requests_to_check on pull_requests (check_requested_at) where check_requested_at is not null;
create trigger announce_check after update of check_requested_at on pull_requests for each row
when (new.check_requested_at is not null) execute function announce_work();
