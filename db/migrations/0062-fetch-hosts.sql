-- hosts of the web pages that a project's agents may fetch
alter table projects add column fetch_hosts text[] not null default '{}';
