create table organizations (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table projects (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  repository text not null,
  default_ref text,
  model text,
  forge text not null check (forge in ('local', 'github')),
  -- further repositories a job of this project may name in source.repository
  allowed_repositories text[] not null default '{}',
  created_at timestamptz not null default now()
);
create index on projects (organization_id);

create table api_keys (
  id text primary key,
  organization_id text not null references organizations (id),
  kind text not null check (kind in ('admin', 'assistant')),
  name text,
  digest bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index on api_keys (organization_id);

create table jobs (
  id text primary key,
  project_id text not null references projects (id),
  organization_id text not null references organizations (id),
  status text not null check (status in ('active', 'completed', 'archived', 'failed')),
  phase text check (phase in ('queued', 'preparing', 'running', 'publishing')),
  -- the newest turn; a terminal write of an older one changes nothing
  turn integer not null default 1,
  repository text not null,
  requested_ref text,
  base_branch text,
  base_commit text,
  model text not null,
  draft boolean not null default false,
  title text,
  message text,
  branch text,
  head_tree text,
  head_commit text,
  pr_id text,
  pr_link text,
  steps integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  failure_category text,
  idempotency_key text,
  request_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz,
  archived_at timestamptz,
  unique (project_id, idempotency_key)
);
create index jobs_by_project on jobs (project_id, created_at desc, id desc);
create index jobs_idle on jobs (updated_at) where status = 'active';
create index jobs_by_status on jobs (project_id, status, created_at desc, id desc);

create table job_turns (
  job_id text not null references jobs (id),
  turn integer not null,
  prompt text not null,
  status text not null default 'active' check (status in ('active', 'completed', 'failed')),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (job_id, turn)
);

-- starts that the engine has not confirmed yet; written with the job in one transaction
create table job_outbox (
  job_id text not null,
  turn integer not null,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  primary key (job_id, turn)
);
create index on job_outbox (next_attempt_at);

-- the ledger: one row per model call and the tool calls it asked for
create table job_steps (
  job_id text not null,
  turn integer not null,
  step integer not null,
  -- taken by each attempt, compared before results are written, so that a stale attempt changes nothing
  fence bigint not null default 0,
  request_hash text,
  response jsonb,
  finish_reason text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  tool_results jsonb,
  -- tree of the working copy after the tools ran
  tree text,
  model_failures integer not null default 0,
  started_at timestamptz not null default now(),
  answered_at timestamptz,
  ended_at timestamptz,
  primary key (job_id, turn, step),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);

-- a tree of the working copy: the objects that the base commit does not have, and the change as a patch
create table job_snapshots (
  job_id text not null references jobs (id),
  tree text not null,
  commit text not null,
  base_commit text not null,
  pack bytea not null,
  patch text not null,
  changed_files integer not null,
  created_at timestamptz not null default now(),
  primary key (job_id, tree)
);

-- effects on the outside of a turn (prepare, push, pull request): fence and failures counted across attempts
create table job_effects (
  job_id text not null,
  turn integer not null,
  effect text not null,
  fence bigint not null default 0,
  failures integer not null default 0,
  result jsonb,
  primary key (job_id, turn, effect),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);

-- the local forge
create table pull_requests (
  id text primary key,
  repository text not null,
  number integer not null,
  head text not null,
  base text not null,
  title text not null,
  body text not null,
  draft boolean not null default false,
  state text not null default 'open' check (state in ('open', 'closed', 'merged')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (repository, head),
  unique (repository, number)
);
