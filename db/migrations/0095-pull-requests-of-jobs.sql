-- every pull request of a job has a row: its owner, the job and the turn that opened it, and what was pushed to it last. A row of
-- the local forge has no job_id, which tells it from those of other forges; opened_by is null until the job knows of it
alter table pull_requests
  add column organization_id text references organizations (id) on delete cascade,
  add column opened_by text references jobs (id) on delete cascade,
  add column opened_in integer,
  add column head_commit text,
  add column head_tree text,
  add column link text;
create index pull_requests_by_opener on pull_requests (opened_by, opened_in);
create index pull_requests_by_organization on pull_requests (organization_id);

-- a job's row has its newest pull request; what is known of an earlier one stays in the row of that one
create function keep_pull_request() returns trigger
language plpgsql as $$
begin
  update pull_requests
  set organization_id = new.organization_id, opened_by = new.id, opened_in = coalesce(opened_in, new.turn),
      head_commit = coalesce(new.head_commit, head_commit), head_tree = coalesce(new.head_tree, head_tree),
      link = coalesce(new.pr_link, link)
  where id = pull_request_of(new.id, new.pr_id) and coalesce(opened_by, new.id) = new.id;
  return null;
end
$$;
create trigger keep_pull_request after update of pr_id, pr_link, head_commit, head_tree on jobs for each row
when (new.pr_id is not null) execute function keep_pull_request();
