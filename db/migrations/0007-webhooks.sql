-- who is told of what happens to the jobs of a project
create table webhook_endpoints (
  id text primary key,
  project_id text not null references projects (id),
  url text not null,
  description text,
  -- none is all of them
  event_types text[] not null default '{}',
  enabled boolean not null default true,
  -- why it was disabled; null when a person did it
  disabled_reason text,
  -- both sealed; the previous one signs beside the new one until its time is up
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  -- of an unbroken row of failed attempts
  failing_since timestamptz,
  last_failed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on webhook_endpoints (project_id);

create table webhook_messages (
  id text primary key,
  project_id text not null references projects (id),
  type text not null,
  job_id text,
  -- the job's row as the change left it
  job jsonb,
  -- what is sent, byte for byte; made when it is sent first
  body text,
  created_at timestamptz not null default now()
);
create index on webhook_messages (created_at);

-- a message on its way to one endpoint
create table webhook_deliveries (
  id text primary key,
  message_id text not null references webhook_messages (id) on delete cascade,
  endpoint_id text not null references webhook_endpoints (id) on delete cascade,
  -- the execution that delivers it; an older one ends when it learns of a newer
  round integer not null default 1,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- since a person asked for it last
  tries integer not null default 0,
  -- when the engine is to be asked for the round; null once it has it
  start_at timestamptz default now(),
  next_attempt_at timestamptz default now(),
  -- why it failed when no attempt says so
  error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  unique (message_id, endpoint_id)
);
create index on webhook_deliveries (start_at) where start_at is not null;
create index on webhook_deliveries (next_attempt_at) where status = 'pending';
create index on webhook_deliveries (endpoint_id, created_at desc, id desc);

create table webhook_attempts (
  delivery_id text not null references webhook_deliveries (id) on delete cascade,
  round integer not null,
  attempt integer not null,
  status_code integer,
  duration_ms integer not null,
  -- the first part of what the receiver answered
  response text,
  error text,
  -- how long the execution waits before the next one; null: this was the last
  wait_ms bigint,
  started_at timestamptz not null,
  primary key (delivery_id, round, attempt)
);

-- Writes a message and its deliveries. The endpoints are locked first: one that is deleted at the same moment is left out
-- rather than failing the change of the job.
create function announce_job(changed jobs, message_type text) returns void
language sql
as $$
  with receivers as materialized (
    select id from webhook_endpoints
    where project_id = changed.project_id and enabled and (event_types = '{}' or message_type = any (event_types))
    order by id for key share
  ), message as (
    insert into webhook_messages (id, project_id, type, job_id, job)
    select 'msg_' || replace(gen_random_uuid()::text, '-', ''), changed.project_id, message_type, changed.id,
           to_jsonb(changed) - '{idempotency_key,request_hash}'::text[]
    where exists (select from receivers)
    returning id
  )
  insert into webhook_deliveries (id, message_id, endpoint_id)
  select 'dlv_' || replace(gen_random_uuid()::text, '-', ''), message.id, receivers.id from message, receivers
$$;

-- Whichever statement changes a job, its messages are written with the change or not at all.
create function announce_job_change() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    perform announce_job(new, 'job.created');
    return null;
  end if;
  if new.status <> old.status then
    perform announce_job(new, case new.status when 'active' then 'job.resumed' else 'job.' || new.status end);
  end if;
  if new.pr_state is distinct from old.pr_state and new.pr_state in ('closed', 'merged') then
    perform announce_job(new, 'pull_request.' || new.pr_state);
  end if;
  return null;
end
$$;

create trigger announce_created_job after insert on jobs for each row execute function announce_job_change();
create trigger announce_changed_job after update on jobs for each row
when (old.status <> new.status or old.pr_state is distinct from new.pr_state)
execute function announce_job_change();
