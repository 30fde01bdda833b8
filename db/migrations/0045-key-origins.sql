-- the pages that may use a public key; none means all
alter table api_keys
  add column allowed_origins text[] not null default '{}',
  add column allows_no_origin boolean not null default false;
