-- sources beside the main one, in order; a site without a main source has at least one
alter table sites
  add column sources jsonb not null default '[]' check (jsonb_typeof(sources) = 'array'),
  drop constraint sites_check,
  add constraint sites_main_source_check check (
    num_nonnulls(repository, directory) = 1 or (num_nonnulls(repository, directory) = 0 and sources <> '[]')
  );
