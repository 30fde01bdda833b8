-- sliding-window counters on database time: the running bucket and the one before it, in one row that is one lock
create table rate_limits (
  key text primary key,
  -- in seconds since 1970, a multiple of the window
  bucket_start bigint not null,
  current integer not null default 0,
  previous integer not null default 0,
  expires_at timestamptz not null
) with (fillfactor = 50);
create index on rate_limits (expires_at);
