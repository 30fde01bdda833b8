-- counts a job's events; whoever appends holds this row until the end of the transaction, so that no number is left out
-- or seen before a smaller one
create table job_event_logs (
  job_id text primary key references jobs (id),
  last_seq bigint not null default 0,
  -- the newest turn that has ended: nothing of it is appended behind its end
  ended_turn integer not null default 0
);

-- what happened to a job, for whoever watches it; append-only
create table job_events (
  job_id text not null references job_event_logs (job_id),
  seq bigint not null,
  turn integer not null,
  step integer,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null default now(),
  primary key (job_id, seq)
);

-- Appends [{"type", "data"}, …] and wakes the watchers when the transaction commits. Answers the number of the last one;
-- null when there were none, or when the turn has ended. It belongs at the end of a transaction: it locks last.
create function append_job_events(of_job text, of_turn integer, of_step integer, events jsonb, ends boolean default false)
returns bigint
language sql
as $$
  with log as (
    insert into job_event_logs as logs (job_id, last_seq, ended_turn)
    select of_job, jsonb_array_length(events), case when ends then of_turn else 0 end
    where jsonb_array_length(events) > 0
    on conflict (job_id) do update
    set last_seq = logs.last_seq + jsonb_array_length(events),
        ended_turn = case when ends then of_turn else logs.ended_turn end
    where logs.ended_turn < of_turn
    returning last_seq
  ), appended as (
    insert into job_events (job_id, seq, turn, step, type, data)
    select of_job, log.last_seq - jsonb_array_length(events) + event.place, of_turn, of_step, event.value ->> 'type',
           event.value -> 'data'
    from log, jsonb_array_elements(events) with ordinality as event (value, place)
  )
  select last_seq from log, lateral pg_notify('job_events', of_job)
$$;
