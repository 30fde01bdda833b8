-- What happened in an organization, for the figures of its operation. Writers append facts and so never wait for each other; the
-- API rolls them up every few seconds. A fact has no foreign key: each step would lock the organization's row.
create table operation_facts (
  organization_id text not null,
  at timestamptz not null,
  kind text not null check (kind in ('created', 'completed', 'failed', 'step', 'answered', 'unanswered')),
  -- of a failure
  category text,
  ms double precision,
  first_token_ms double precision,
  input_tokens bigint,
  output_tokens bigint,
  cost_micros bigint
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The facts of a time slot. The maps count durations by their rounded logarithm, and failures by their category.
create table operation_rollups (
  organization_id text not null references organizations (id) on delete cascade,
  seconds integer not null,
  at timestamptz not null,
  created bigint not null,
  completed bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  answered bigint not null,
  unanswered bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_micros bigint not null,
  failures jsonb not null,
  turn_ms jsonb not null,
  model_ms jsonb not null,
  answer_ms jsonb not null,
  first_token_ms jsonb not null,
  primary key (organization_id, seconds, at)
);
create index on operation_rollups (seconds, at);

create function add_counts(one jsonb, other jsonb) returns jsonb
language sql immutable
as $$
  select coalesce(jsonb_object_agg(key, count), '{}') from (
    select key, sum(value::bigint) as count
    from (select * from jsonb_each_text(one) union all select * from jsonb_each_text(other)) as counts group by key
  ) as added
$$;

create function note_turn() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts (organization_id, at, kind, category, ms)
  select organization_id, coalesce(new.ended_at, new.created_at), case new.status when 'active' then 'created' else new.status end,
         case new.status when 'failed' then failure_category end, extract(epoch from new.ended_at - new.created_at) * 1000
  from jobs, operation_start where jobs.id = new.job_id and coalesce(new.ended_at, new.created_at) >= since;
  return null;
end
$$;
-- a fork copies turns that have ended
create trigger note_turn after insert on job_turns for each row when (new.status = 'active') execute function note_turn();
create trigger note_ended_turn after update of status on job_turns for each row
when (old.status = 'active' and new.status <> 'active') execute function note_turn();

create function note_step() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts (organization_id, at, kind, ms, input_tokens, output_tokens, cost_micros)
  select organization_id, new.answered_at, 'step', extract(epoch from new.answered_at - new.started_at) * 1000,
         new.input_tokens, new.output_tokens, coalesce(new.cost_micros, 0)
  from jobs, operation_start where jobs.id = new.job_id and new.answered_at >= since;
  return null;
end
$$;
create trigger note_step after update of answered_at on job_steps for each row
when (old.answered_at is null and new.answered_at is not null) execute function note_step();

create function note_answer() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts (organization_id, at, kind, ms, first_token_ms)
  select organization_id, new.created_at, case when new.answered then 'answered' else 'unanswered' end, new.duration_ms,
         new.first_token_ms
  from threads, operation_start where threads.id = new.thread_id and new.created_at >= since;
  return null;
end
$$;
create trigger note_answer after insert on thread_messages for each row
when (new.role = 'assistant' and new.ending = 'finished') execute function note_answer();

-- The triggers count from `since`. What happened before is read once from the rows, in the order of the ids; null: done. The
-- triggers hold their tables, so that all that happens from here on is theirs.
create table operation_start (
  since timestamptz not null,
  after_job text default '',
  after_thread text default ''
);
create unique index on operation_start ((true));
insert into operation_start (since) values (clock_timestamp());
