-- Totals of the jobs that have ended. A change appends a row instead of updating one, so writers never wait for each other; the API
-- compacts the rows every few seconds. The total of a status is the sum of its rows.
create table job_totals (
  status text not null,
  jobs bigint not null,
  input_tokens numeric not null,
  output_tokens numeric not null,
  cost_micros numeric not null
);

create function count_ended_job() returns trigger
language plpgsql
as $$
begin
  if tg_op <> 'INSERT' and old.status <> 'active' then
    insert into job_totals values (old.status, -1, -old.input_tokens, -old.output_tokens, -coalesce(old.cost_micros, 0));
  end if;
  if tg_op <> 'DELETE' and new.status <> 'active' then
    insert into job_totals values (new.status, 1, new.input_tokens, new.output_tokens, coalesce(new.cost_micros, 0));
  end if;
  return null;
end
$$;

create trigger count_ended_job after update of status, input_tokens, output_tokens, cost_micros on jobs for each row
when ((old.status <> 'active' or new.status <> 'active')
      and (old.status, old.input_tokens, old.output_tokens, old.cost_micros)
          is distinct from (new.status, new.input_tokens, new.output_tokens, new.cost_micros))
execute function count_ended_job();
create trigger count_new_job after insert on jobs for each row when (new.status <> 'active') execute function count_ended_job();
create trigger count_deleted_job after delete on jobs for each row when (old.status <> 'active') execute function count_ended_job();

insert into job_totals
select status, count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cost_micros), 0)
from jobs where status <> 'active' group by status;
