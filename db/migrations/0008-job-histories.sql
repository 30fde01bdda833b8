-- the engine's record of one run of a turn's execution; the runs of a turn are chained by continue-as-new
create table job_histories (
  job_id text not null,
  turn integer not null,
  -- place in the chain, from 1
  run integer not null,
  run_id text not null,
  -- gzip of temporal.api.history.v1.History
  history bytea not null,
  event_count integer not null,
  -- how the engine names the workflow code that ran, in the order of its first task
  build_ids text[] not null default '{}',
  primary key (job_id, turn, run),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);
-- it is compressed already
alter table job_histories alter column history set storage external;

-- what became of the history of each turn that has ended
create table job_history_exports (
  job_id text not null,
  turn integer not null,
  state text not null default 'waiting' check (state in ('waiting', 'exported', 'lost', 'removed')),
  -- false when the engine had lost earlier runs of the chain
  is_whole boolean not null default true,
  attempts integer not null default 0,
  ended_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  exported_at timestamptz,
  primary key (job_id, turn),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);
create index job_history_exports_due on job_history_exports (next_attempt_at) where state = 'waiting';

create function queue_history_export() returns trigger language plpgsql as $$
begin
  insert into job_history_exports (job_id, turn) values (new.job_id, new.turn) on conflict do nothing;
  return null;
end
$$;

-- whichever statement ends a turn
create trigger queue_history_export after update of status on job_turns
for each row when (old.status = 'active' and new.status <> 'active') execute function queue_history_export();

insert into job_history_exports (job_id, turn) select job_id, turn from job_turns where status <> 'active';

-- set when the events and histories of a job that was archived long ago were removed
alter table jobs add column records_removed_at timestamptz;
create index jobs_with_old_records on jobs (archived_at) where status = 'archived' and records_removed_at is null;

-- the step of another job that this one goes on from: everything up to it was copied
alter table jobs add column forked_from text references jobs (id);
alter table jobs add column forked_turn integer;
alter table jobs add column forked_step integer;

-- the commit that the turn's trees are compared with
alter table job_turns add column base_commit text;
update job_turns set base_commit = jobs.base_commit from jobs where jobs.id = job_turns.job_id;
