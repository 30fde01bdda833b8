-- The figures of an organization's operation also by model and by project. The maps count turns by how they ended, and sum the cost
-- of model calls: 'completed <name>', 'failed <name>', 'cancelled <name>', 'cost <name>' (in micros).
alter table operation_facts add column model text;
alter table operation_facts add column project_id text;
alter table operation_rollups add column models jsonb not null default '{}';
alter table operation_rollups add column projects jsonb not null default '{}';

create or replace function note_turn() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts (organization_id, at, kind, category, ms, model, project_id)
  select organization_id, coalesce(new.ended_at, new.created_at), case new.status when 'active' then 'created' else new.status end,
         case new.status when 'failed' then failure_category end, extract(epoch from new.ended_at - new.created_at) * 1000,
         model, project_id
  from jobs, operation_start where jobs.id = new.job_id and coalesce(new.ended_at, new.created_at) >= since;
  return null;
end
$$;

create or replace function note_step() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts
    (organization_id, at, kind, ms, input_tokens, output_tokens, cost_micros, model, project_id)
  select organization_id, new.answered_at, 'step', extract(epoch from new.answered_at - new.started_at) * 1000,
         new.input_tokens, new.output_tokens, coalesce(new.cost_micros, 0), coalesce(new.model, jobs.model), project_id
  from jobs, operation_start where jobs.id = new.job_id and new.answered_at >= since;
  return null;
end
$$;
