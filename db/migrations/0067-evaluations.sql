-- Questions with what their answers should cite and state.
create table question_sets (
  id text primary key,
  site_id text not null references sites (id) on delete cascade,
  name text not null,
  questions jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (site_id, name)
);

-- A set's questions, as they were, asked with one or two configurations.
create table evaluations (
  id text primary key,
  site_id text not null references sites (id) on delete cascade,
  set_id text references question_sets (id) on delete set null,
  set_name text not null,
  questions jsonb not null,
  configurations jsonb not null,
  state text not null check (state in ('running', 'completed', 'failed', 'stopped')),
  -- why it waits, failed or was stopped
  notice text,
  -- failed attempts since the last result
  failures integer not null default 0,
  -- lease of the process that asks, or the time until which it waits
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index on evaluations (site_id, created_at desc, id desc);
create index on evaluations (set_id) where set_id is not null;
create unique index evaluations_running on evaluations (site_id) where state = 'running';

create table evaluation_results (
  evaluation_id text not null references evaluations (id) on delete cascade,
  -- of the question, and of the configuration
  position integer not null,
  side integer not null,
  answer text not null,
  -- paths of pages that it cites, and of the passages that were found
  cited text[] not null,
  found text[] not null,
  answered boolean not null,
  missing_facts text[] not null,
  cites_expected boolean,
  finds_expected boolean,
  passed boolean not null,
  cost_micros bigint not null,
  duration_ms integer not null,
  index_version integer not null,
  created_at timestamptz not null default now(),
  primary key (evaluation_id, position, side)
);
