-- of the input tokens, those the provider put in its cache
alter table job_steps add column cache_write_tokens bigint not null default 0;
