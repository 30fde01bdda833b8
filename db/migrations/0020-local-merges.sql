-- the local forge merges in a worker, which is where git is: what was asked for, who does it, and why it could not be done
alter table pull_requests add column merge_requested_at timestamptz;
alter table pull_requests add column merge_claimed_at timestamptz;
alter table pull_requests add column merge_problem text;
alter table pull_requests add column merge_commit text;
create index pull_requests_to_merge on pull_requests (merge_requested_at) where merge_requested_at is not null;
create index jobs_by_pull_request on jobs (pr_id) where pr_id is not null;
