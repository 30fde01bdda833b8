-- What readers asked, without their words: the place of an answer in the documentation, and its cost.
alter table thread_messages
  add column topic text,
  add column version text,
  add column language text,
  add column cost_micros bigint;

-- As it is counted in the rollups; null: not counted yet.
alter table threads add column outcome text check (outcome in ('open', 'resolved', 'confirmed'));

-- Changes of a site's figures, which the API rolls up every few seconds. An empty text stands for none.
create table site_facts (
  site_id text not null references sites (id) on delete cascade,
  at timestamptz not null,
  version text not null default '',
  language text not null default '',
  topic text not null default '',
  answered integer not null default 0,
  unanswered integer not null default 0,
  interrupted integer not null default 0,
  up integer not null default 0,
  down integer not null default 0,
  conversations integer not null default 0,
  resolved integer not null default 0,
  confirmed integer not null default 0,
  cost_micros bigint not null default 0,
  -- paths of pages that an answer cites, or that readers opened so many times
  cited text[] not null default '{}',
  opened text,
  opens integer not null default 0
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
create index on site_facts (site_id);

create table site_rollups (
  site_id text not null references sites (id) on delete cascade,
  seconds integer not null,
  at timestamptz not null,
  version text not null,
  language text not null,
  topic text not null,
  answered bigint not null,
  unanswered bigint not null,
  interrupted bigint not null,
  up bigint not null,
  down bigint not null,
  conversations bigint not null,
  resolved bigint not null,
  confirmed bigint not null,
  cost_micros bigint not null,
  primary key (site_id, seconds, at, version, language, topic)
);
create index on site_rollups (seconds, at);

create table site_page_rollups (
  site_id text not null references sites (id) on delete cascade,
  day timestamptz not null,
  version text not null,
  language text not null,
  path text not null,
  cited bigint not null,
  opened bigint not null,
  primary key (site_id, day, version, language, path)
);
create index on site_page_rollups (day);
