-- Of a job's input, what providers read from their caches, and what they wrote to them. Null for jobs of earlier versions,
-- whose calls were not added up.
alter table jobs add column cached_tokens bigint;
alter table jobs alter column cached_tokens set default 0;
alter table jobs add column cache_write_tokens bigint;
alter table jobs alter column cache_write_tokens set default 0;
alter table job_compactions add column cache_write_tokens bigint not null default 0;

alter table operation_facts add column cached_tokens bigint;
alter table operation_facts add column cache_write_tokens bigint;
alter table operation_rollups add column cached_tokens bigint not null default 0;
alter table operation_rollups add column cache_write_tokens bigint not null default 0;

create or replace function note_step() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts
    (organization_id, at, kind, ms, input_tokens, cached_tokens, cache_write_tokens, output_tokens, cost_micros, model, project_id)
  select organization_id, new.answered_at, 'step', extract(epoch from new.answered_at - new.started_at) * 1000,
         new.input_tokens, new.cached_tokens, new.cache_write_tokens, new.output_tokens, coalesce(new.cost_micros, 0),
         coalesce(new.model, jobs.model), project_id
  from jobs, operation_start where jobs.id = new.job_id and new.answered_at >= since;
  return null;
end
$$;
