-- when and why the last build of a layer failed: what jobs are told that waited for it
alter table environment_layers add column failed_at timestamptz, add column failure text;
