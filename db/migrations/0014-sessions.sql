-- who is signed in to the dashboard; the cookie holds the id and a signature under the pepper, which is not in here
create table sessions (
  id text primary key,
  organization_id text not null references organizations (id),
  -- the admin key it was exchanged for: it ends with the key
  key_id text not null references api_keys (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index on sessions (organization_id);
create index on sessions (expires_at);

-- links that sign in once; only a digest is kept
create table sign_in_links (
  digest bytea primary key,
  key_id text not null references api_keys (id),
  expires_at timestamptz not null
);
create index on sign_in_links (expires_at);

-- what was administered, by whom; append-only
create table audit_entries (
  id text primary key,
  organization_id text not null references organizations (id),
  -- the admin key that it was done with, and the session when it was done in the dashboard
  key_id text,
  session_id text,
  action text not null,
  subject text,
  details jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index on audit_entries (organization_id, created_at desc, id desc);
