-- A turn can end with a plan or a question, and its job then waits for a person: active, without an execution.
-- Every stored phase fits the wider constraint, so the table is not read to check it.
alter table jobs drop constraint jobs_phase_check;
alter table jobs add constraint jobs_phase_check
  check (phase in ('queued', 'preparing', 'running', 'publishing', 'waiting')) not valid;

alter table projects add column plan_review boolean not null default false;
alter table projects add column may_ask boolean not null default false;

alter table jobs add column plan_review boolean not null default false;
alter table jobs add column may_ask boolean not null default false;
-- the turn that the approval of the plan started; earlier turns, and all turns without one, only plan
alter table jobs add column approved_turn integer;
alter table jobs add column plan text;
-- the question that waits for an answer: its text and its choices
alter table jobs add column question jsonb;
alter table jobs add column wait_since timestamptz;
alter table jobs add column wait_until timestamptz;

create or replace function announce_job_change() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    perform announce_job(new, 'job.created');
    return null;
  end if;
  if new.status <> old.status then
    perform announce_job(new, case new.status when 'active' then 'job.resumed' else 'job.' || new.status end);
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

drop trigger announce_changed_job on jobs;
create trigger announce_changed_job after update on jobs for each row
when (old.status <> new.status or old.pr_state is distinct from new.pr_state
      or (old.phase is distinct from new.phase and 'waiting' in (old.phase, new.phase)))
execute function announce_job_change();
