-- A person can undo an archive: the job is completed or failed again, which is not another end of its work.
-- When it was: the daily archive counts from then.
alter table jobs add column unarchived_at timestamptz;

create or replace function announce_job_change() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    perform announce_job(new, 'job.created');
    return null;
  end if;
  if new.status <> old.status then
    perform announce_job(new, case
      when new.status = 'active' then 'job.resumed'
      when old.status = 'archived' then 'job.unarchived'
      else 'job.' || new.status
    end);
  elsif new.phase = 'waiting' and old.phase <> 'waiting' then
    perform announce_job(new, 'job.waiting');
  elsif old.phase = 'waiting' and new.phase <> 'waiting' then
    perform announce_job(new, 'job.resumed');
  end if;
  if new.pr_state is distinct from old.pr_state and new.pr_state in ('closed', 'merged') then
    perform announce_job(new, 'pull_request.' || new.pr_state);
  end if;
  return null;
end
$$;

-- why a question counts as a gap: how often the documentation had no answer, and how often readers rejected it; null: not known
alter table gap_questions add column not_found integer;
alter table gap_questions add column voted_down integer;
