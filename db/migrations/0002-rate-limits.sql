-- sliding-window counters: two buckets per key, on database time
create unlogged table rate_limits (
  key text not null,
  bucket_start timestamptz not null,
  count integer not null,
  primary key (key, bucket_start)
);
create index on rate_limits (bucket_start);
