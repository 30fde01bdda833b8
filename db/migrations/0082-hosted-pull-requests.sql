-- pull requests of other forges have a row, too, with the job that opened them; those of the local forge have no job_id
alter table pull_requests add column job_id text references jobs (id) on delete cascade;
create index pull_requests_of_job on pull_requests (job_id) where job_id is not null;
alter table pull_requests drop constraint pull_requests_repository_head_key;
alter table pull_requests drop constraint pull_requests_repository_number_key;
create unique index pull_requests_by_head on pull_requests (repository, head) where job_id is null;
create unique index pull_requests_by_number on pull_requests (repository, number) where job_id is null;
-- the last commit of the branch that the person saw who wants it merged
alter table pull_requests add column merge_head text;

-- the id of a job's pull request: on the local forge what the job has, elsewhere made of the job and the forge's number
create function pull_request_of(job_id text, pr_id text) returns text
language sql immutable parallel safe
return case when pr_id ~ '^[0-9]+$' then 'pr_' || substr(job_id, 5) || '-' || pr_id else pr_id end;
drop index jobs_by_pull_request;
create index jobs_by_pull_request on jobs (pull_request_of(id, pr_id));

insert into pull_requests (id, repository, number, head, base, title, body, draft, state, job_id)
select pull_request_of(id, pr_id), repository, pr_id::integer, coalesce(branch, ''), coalesce(base_branch, ''), coalesce(title, ''),
       '', coalesce(pr_draft, false), coalesce(pr_state, 'open'), id
from jobs where pr_id ~ '^[0-9]{1,9}$';
