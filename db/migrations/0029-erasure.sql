-- What belongs to an organization, a project, a site, a job or a key goes with it: every reference cascades, so that nothing can be
-- left over, and nothing can be written for what is gone. What is shared by content stays as long as somebody uses it.
do $$
declare
  reference record;
begin
  for reference in
    select conname, conrelid::regclass as child, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and confdeltype = 'a' and connamespace = current_schema()::regnamespace
      and confrelid <> 'site_index_blocks'::regclass
  loop
    execute format('alter table %s drop constraint %I, add constraint %I %s on delete %s', reference.child, reference.conname,
      reference.conname, reference.definition,
      -- a fork and the check of a gap stay when the job that they name goes
      case reference.conname
        when 'jobs_forked_from_fkey' then 'set null'
        when 'gaps_job_id_fkey' then 'set null'
        else 'cascade'
      end);
  end loop;
end
$$;

delete from job_outbox where not exists (select from jobs where jobs.id = job_id);
alter table job_outbox add foreign key (job_id) references jobs (id) on delete cascade;
delete from webhook_messages where job_id is not null and not exists (select from jobs where jobs.id = job_id);
alter table webhook_messages add foreign key (job_id) references jobs (id) on delete cascade;

-- the entry that says that an organization was deleted outlives it
alter table audit_entries drop constraint audit_entries_organization_id_fkey;

-- a row that goes looks for those that go with it
create index on jobs (forked_from) where forked_from is not null;
create index on gaps (job_id) where job_id is not null;
create index on webhook_messages (job_id) where job_id is not null;
create index on webhook_messages (project_id);
create index on sessions (key_id);
create index on sign_in_links (key_id);
create index on threads (organization_id);
