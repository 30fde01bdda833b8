-- A deletion keeps the tokens and the cost in the totals: a counter that decreases counts as one that started again, so that each
-- deletion would look like the cost of all jobs ever.
create or replace function count_ended_job() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    if old.status = 'active' then
      insert into job_totals values (old.status, 0, old.input_tokens, old.output_tokens, coalesce(old.cost_micros, 0));
    else
      insert into job_totals values (old.status, -1, 0, 0, 0);
    end if;
    return null;
  end if;
  if tg_op = 'UPDATE' and old.status <> 'active' then
    insert into job_totals values (old.status, -1, -old.input_tokens, -old.output_tokens, -coalesce(old.cost_micros, 0));
  end if;
  if new.status <> 'active' then
    insert into job_totals values (new.status, 1, new.input_tokens, new.output_tokens, coalesce(new.cost_micros, 0));
  end if;
  return null;
end
$$;

create or replace trigger count_deleted_job after delete on jobs for each row execute function count_ended_job();
