-- issue trackers that sites have as sources, and how far they have been read
create table thread_sources (
  site_id text not null references sites (id) on delete cascade,
  -- prefix of the site's source
  source text not null,
  -- of the source; other ones read everything again
  settings text not null,
  -- time of the newest change that has been read; null while the whole list has not been read
  read_until text,
  -- version of the list of changes since then
  etag text,
  -- when the whole list was last read
  listed_at timestamptz,
  primary key (site_id, source)
);

-- threads, as they were last read
create table source_threads (
  site_id text not null,
  source text not null,
  id text not null,
  changed_at text not null,
  -- page as JSON, and its hash; null for what is not indexed
  content text,
  name text,
  primary key (site_id, source, id),
  foreign key (site_id, source) references thread_sources on delete cascade
);
