-- worker processes, as they say of themselves every few seconds
create table workers (
  id text primary key,
  host text not null,
  pid integer not null,
  version text not null,
  -- tasks it is working on, of all queues
  active_tasks integer not null default 0,
  started_at timestamptz not null,
  seen_at timestamptz not null default now()
);
