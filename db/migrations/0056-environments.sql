-- where the jobs of a project run, in place of the repository's .docket/environment.yml
alter table projects add column environment text;

-- variables of the setup of a project's jobs; the value is sealed for its row
create table project_secrets (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  value text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, name)
);

-- what setup installed: an archive in compressed chunks, shared by the workers
create table environment_layers (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  key text not null,
  -- until when its builder holds it; null once it is complete
  held_until timestamptz,
  description jsonb,
  bytes bigint not null default 0,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  unique (project_id, key)
);
create index environment_layers_unused on environment_layers (used_at);

create table environment_chunks (
  layer_id text not null references environment_layers (id) on delete cascade,
  position integer not null,
  content bytea not null,
  primary key (layer_id, position)
);
-- compressed already
alter table environment_chunks alter column content set storage external;
