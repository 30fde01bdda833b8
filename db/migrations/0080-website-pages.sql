-- pages of crawled websites, as they were last read
create table website_pages (
  site_id text not null references sites (id) on delete cascade,
  -- prefix of the site's source
  source text not null,
  url text not null,
  etag text,
  last_modified text,
  -- address under which the page is published
  canonical text not null,
  links text[] not null,
  -- page as JSON, and its hash; null for what is not indexed
  content text,
  name text,
  -- whether a crawl that is not finished has read it
  is_checked boolean not null,
  primary key (site_id, source, url)
);
