-- requests of readers with a public key, and about a site; null for no limit of its own
alter table api_keys
  add column requests_per_minute integer check (requests_per_minute > 0),
  add column requests_per_day integer check (requests_per_day > 0);
alter table sites
  add column requests_per_minute integer check (requests_per_minute > 0),
  add column requests_per_day integer check (requests_per_day > 0);
