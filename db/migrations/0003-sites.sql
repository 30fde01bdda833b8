create table sites (
  id text primary key,
  organization_id text not null references organizations (id),
  domain text not null unique,
  -- exactly one of the two: a git repository, or a directory on the worker's machine
  repository text,
  directory text,
  ref text,
  -- folder below the repository or directory that holds the pages; '' is all of it
  path text not null default '',
  base_url text,
  -- days a conversation is kept; 0 stores nothing
  retention_days integer not null default 30,
  refresh_minutes integer,
  index_version integer not null default 0,
  index_pages integer not null default 0,
  indexed_at timestamptz,
  index_requested_at timestamptz,
  index_failure text,
  index_failure_message text,
  created_at timestamptz not null default now(),
  check ((repository is null) <> (directory is null))
);
create index on sites (organization_id);

create table site_indexes (
  site_id text not null references sites (id),
  version integer not null,
  format integer not null,
  -- hash of everything that went in; an equal one means nothing changed
  source_hash text not null,
  -- what the source calls this content (git's id of the folder); null where it has no such name
  revision text,
  size_bytes bigint not null,
  pages integer not null,
  chunks integer not null,
  created_at timestamptz not null default now(),
  primary key (site_id, version)
);

-- the artifact in blocks by content, so that a small change stores little
create table site_index_blocks (
  hash bytea primary key,
  data bytea not null
);
-- compressing costs more time than it saves space
alter table site_index_blocks alter column data set storage external;

create table site_index_layout (
  site_id text not null,
  version integer not null,
  position integer not null,
  hash bytea not null references site_index_blocks (hash),
  primary key (site_id, version, position),
  foreign key (site_id, version) references site_indexes (site_id, version) on delete cascade
);
create index on site_index_layout (hash);
