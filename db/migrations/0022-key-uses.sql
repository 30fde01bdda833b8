-- requests of readers with an assistant key, by the hour; processes add to it every few seconds
create table key_uses (
  key_id text not null references api_keys (id),
  hour timestamptz not null,
  requests bigint not null default 0,
  -- of these, those that a limit turned away
  refused bigint not null default 0,
  primary key (key_id, hour)
);
create index on key_uses (hour);
