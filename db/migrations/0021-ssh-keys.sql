-- private key for repositories that are reached by ssh, sealed for this project alone
alter table projects add column ssh_key text;
-- keys of servers that it may be shown to, each as `host type key`
alter table projects add column ssh_known_hosts text[] not null default '{}';
