-- every worker polls for index requests several times a second
create index sites_to_index on sites (index_requested_at) where index_requested_at is not null;
