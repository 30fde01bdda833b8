-- wakes the processes that look for work of other processes, so that they look seldom while there is none
create function announce_work() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('due_work', '');
  return null;
end
$$;
create trigger announce_work after insert on job_outbox for each statement execute function announce_work();
create trigger announce_work after insert on job_cancels for each statement execute function announce_work();
create trigger announce_work after insert on job_history_exports for each row execute function announce_work();
-- a claim sets a time in the future
create trigger announce_work after insert or update of start_at on webhook_deliveries for each row
when (new.start_at <= now()) execute function announce_work();
create trigger announce_work after insert or update of index_requested_at on sites for each row
when (new.index_requested_at is not null) execute function announce_work();
create trigger announce_work after update of merge_requested_at on pull_requests for each row
when (new.merge_requested_at is not null) execute function announce_work();
create trigger announce_work after update of pr_state on jobs for each row
when (new.pr_state = 'merged' and old.pr_state is distinct from 'merged') execute function announce_work();
