-- whether the agents of the project's jobs may run commands, where the worker has a sandbox
alter table projects add column may_run boolean not null default true;
-- has to succeed before a change counts as finished; null: there is none
alter table projects add column check_command text;
