-- A commit that notifies holds a lock of the whole server until its WAL is flushed, so that such commits go one by one.
-- The process that appends now wakes the watchers after its commit.
create or replace function append_job_events(of_job text, of_turn integer, of_step integer, events jsonb, ends boolean default false)
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
  select last_seq from log
$$;
