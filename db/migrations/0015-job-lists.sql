-- the jobs of an organization, newest first, and those that changed last
create index jobs_by_organization on jobs (organization_id, created_at desc, id desc);
create index jobs_by_change on jobs (organization_id, updated_at);
