-- The cost of operation was that of answered steps. Compactions, and calls whose answer was lost, are paid for, too. A fork copies
-- compactions without their tokens.
alter table operation_facts drop constraint operation_facts_kind_check;
alter table operation_facts add constraint operation_facts_kind_check
  check (kind in ('created', 'completed', 'failed', 'step', 'call', 'answered', 'unanswered'));

create function note_compaction() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts
    (organization_id, at, kind, input_tokens, cached_tokens, cache_write_tokens, output_tokens, cost_micros, model, project_id)
  select organization_id, new.created_at, 'call', new.input_tokens, new.cached_tokens, new.cache_write_tokens, new.output_tokens,
         coalesce(new.cost_micros, 0), model, project_id
  from jobs where id = new.job_id;
  return null;
end
$$;
create trigger note_compaction after insert on job_compactions
for each row when (new.input_tokens > 0) execute function note_compaction();

create function note_lost_call() returns trigger
language plpgsql
as $$
begin
  insert into operation_facts (organization_id, at, kind, cost_micros, model, project_id)
  select organization_id, now(), 'call', new.lost_micros - old.lost_micros, model, project_id from jobs where id = new.job_id;
  return null;
end
$$;
create trigger note_lost_call after update of lost_micros on job_steps
for each row when (new.lost_micros > old.lost_micros) execute function note_lost_call();
