-- people reopen pull requests on the forge, and merge them: closed ones are checked for months, more and more rarely
alter table pull_requests add column check_due_at timestamptz;
create index pull_requests_to_poll on pull_requests (check_due_at) where check_due_at is not null;

create function schedule_pull_request_check() returns trigger
language plpgsql as $$
begin
  new.check_due_at := case when new.state = 'closed' then now() + interval '10 minutes' end;
  return new;
end
$$;
create trigger schedule_check before update of state on pull_requests for each row
when (new.job_id is not null and new.state in ('closed', 'merged') and new.state is distinct from old.state)
execute function schedule_pull_request_check();

update pull_requests set check_due_at = now()
where job_id is not null and state = 'closed' and updated_at > now() - interval '90 days';
