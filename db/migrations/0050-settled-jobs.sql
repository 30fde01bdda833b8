-- When a job that is not active changed last; null while it is active. An index on updated_at made each step of a job write to all
-- indexes of its row.
alter table jobs add column settled_at timestamptz;

create function note_settled() returns trigger
language plpgsql
as $$
begin
  new.settled_at := case when new.status <> 'active' then new.updated_at end;
  return new;
end
$$;
create trigger note_settled before update on jobs for each row
when (old.status <> 'active' or new.status <> 'active') execute function note_settled();
create trigger note_settled_new before insert on jobs for each row when (new.status <> 'active') execute function note_settled();

-- for streams of changes that reconnect during the upgrade
update jobs set settled_at = updated_at from organizations, lateral (
  select id from jobs where organization_id = organizations.id and updated_at > now() - interval '10 minutes'
) as recent where jobs.id = recent.id and status <> 'active';
