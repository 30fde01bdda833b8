-- what the jobs of all projects and the answers of the assistant have cost on a day (UTC)
create table organization_spending (
  organization_id text not null references organizations (id),
  day date not null,
  cost_micros bigint not null default 0,
  primary key (organization_id, day)
);

insert into organization_spending (organization_id, day, cost_micros)
select organization_id, day, sum(cost_micros) from project_spending join projects on projects.id = project_id
group by organization_id, day;

-- whichever statement counts what a project spent
create function count_spending() returns trigger
language plpgsql
as $$
begin
  insert into organization_spending as spending (organization_id, day, cost_micros)
  select organization_id, new.day, new.cost_micros - case when tg_op = 'UPDATE' then old.cost_micros else 0 end
  from projects where id = new.project_id
  on conflict (organization_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros;
  return null;
end
$$;
create trigger count_spending after insert or update on project_spending for each row execute function count_spending();
