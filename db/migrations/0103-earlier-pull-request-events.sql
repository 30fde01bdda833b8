-- the pull request that a message is about, where it is not the newest one of its job
alter table webhook_messages add column pull_request jsonb;

drop function announce_job(jobs, text);
create function announce_job(changed jobs, message_type text, about jsonb default null) returns void
language sql
as $$
  with receivers as materialized (
    select id from webhook_endpoints
    where project_id = changed.project_id and enabled and (event_types = '{}' or message_type = any (event_types))
    order by id for key share
  ), message as (
    insert into webhook_messages (id, project_id, type, job_id, job, pull_request)
    select 'msg_' || replace(gen_random_uuid()::text, '-', ''), changed.project_id, message_type, changed.id,
           to_jsonb(changed) - '{idempotency_key,request_hash}'::text[], about
    where exists (select from receivers)
    returning id
  )
  insert into webhook_deliveries (id, message_id, endpoint_id)
  select 'dlv_' || replace(gen_random_uuid()::text, '-', ''), message.id, receivers.id from message, receivers
$$;

-- the state of the newest one is in the job's row, which announces it
create function announce_earlier_pull_request() returns trigger
language plpgsql
as $$
declare
  opener jobs;
begin
  select * into opener from jobs where id = new.opened_by and pull_request_of(id, pr_id) is distinct from new.id;
  if found then
    perform announce_job(opener, 'pull_request.' || new.state, jsonb_build_object(
      'id', new.id, 'number', new.number, 'state', new.state, 'draft', new.draft, 'link', new.link));
  end if;
  return null;
end
$$;
create trigger announce_earlier_pull_request after update of state on pull_requests for each row
when (new.opened_by is not null and new.state in ('closed', 'merged') and new.state is distinct from old.state)
execute function announce_earlier_pull_request();
