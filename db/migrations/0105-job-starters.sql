-- Who started a job, from the entry of the audit log that its transaction wrote; null when there is none.
create function starter_of(job_organization text, job text, started_at timestamptz) returns jsonb
language sql stable
as $$
  select jsonb_build_object('name', coalesce(entries.person, left(keys.name, 200), entries.key_id), 'keyId', entries.key_id)
  from audit_entries as entries left join api_keys as keys
    on keys.id = entries.key_id and keys.organization_id = entries.organization_id
  where entries.organization_id = job_organization and entries.created_at = started_at
    and (entries.subject = job or entries.details ->> 'jobId' = job)
  limit 1
$$;
