-- the address of a Slack webhook is a secret: `url` shows its host only, and `sealed_url` has all of it, encrypted
alter table webhook_endpoints add column format text not null default 'standard' check (format in ('standard', 'slack'));
alter table webhook_endpoints add column sealed_url text;
