-- The most that an organization may have is what the process that writes says of itself: the setting `docket.quotas`, JSON by
-- name. A connection without it, such as one of the command line or a worker, is the operator's own and has no limit.
create function quota_of(name text) returns bigint
language sql stable
as $$ select (nullif(current_setting('docket.quotas', true), '')::jsonb ->> name)::bigint $$;

create function refuse_beyond(name text, held bigint) returns void
language plpgsql
as $$
begin
  if held > quota_of(name) then
    raise exception using errcode = 'DK001', message = name, detail = quota_of(name)::text;
  end if;
end
$$;

-- After an insert: the organization's row is locked first, so that inserts at the same moment see each other. The arguments
-- are the name of the quota and the query that counts.
create function hold_quota() returns trigger
language plpgsql
as $$
declare
  owner text;
  held bigint;
begin
  if quota_of(tg_argv[0]) is null then return null; end if;
  if tg_table_name = 'webhook_endpoints' then
    select organization_id into owner from projects where id = new.project_id;
  else
    owner := new.organization_id;
  end if;
  perform from organizations where id = owner for no key update;
  execute tg_argv[1] into held using owner;
  perform refuse_beyond(tg_argv[0], held);
  return null;
end
$$;

create trigger hold_quota after insert on projects for each row execute function hold_quota(
  'projects', 'select count(*) from projects where organization_id = $1');
create trigger hold_quota after insert on sites for each row execute function hold_quota(
  'sites', 'select count(*) from sites where organization_id = $1');
create trigger hold_quota after insert on api_keys for each row execute function hold_quota(
  'keys', 'select count(*) from api_keys where organization_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())');
create trigger hold_quota after insert on webhook_endpoints for each row execute function hold_quota(
  'webhooks', 'select count(*) from webhook_endpoints join projects on projects.id = project_id where organization_id = $1');

create index jobs_active on jobs (organization_id) where status = 'active';
create trigger hold_quota after insert on jobs for each row execute function hold_quota(
  'activeJobs', 'select count(*) from jobs where organization_id = $1 and status = ''active''');
create trigger hold_quota_again after update of status on jobs for each row
when (old.status <> 'active' and new.status = 'active') execute function hold_quota(
  'activeJobs', 'select count(*) from jobs where organization_id = $1 and status = ''active''');

-- turns begun in the running hour; counted here, so that what was deleted counts, and what was refused or repeated does not
alter table organizations add column turns_hour timestamptz;
alter table organizations add column turns_in_hour integer not null default 0;

create function count_turn() returns trigger
language plpgsql
as $$
declare
  counted bigint;
begin
  if quota_of('turnsPerHour') is null then return null; end if;
  update organizations
  set turns_in_hour = case when turns_hour = date_trunc('hour', now()) then turns_in_hour else 0 end + 1,
      turns_hour = date_trunc('hour', now())
  where id = (select organization_id from jobs where id = new.job_id)
  returning turns_in_hour into counted;
  perform refuse_beyond('turnsPerHour', counted);
  return null;
end
$$;

-- a turn that begins is one row here, whether a job, a message or a fork begins it
create trigger count_turn after insert on job_outbox for each row execute function count_turn();
