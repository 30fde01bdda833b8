-- pages of an organization's pull requests, newest first: of all states, and of one
create index pull_requests_newest on pull_requests (organization_id, created_at desc, id desc) where link is not null;
create index pull_requests_newest_of_state on pull_requests (organization_id, state, created_at desc, id desc)
where link is not null;
