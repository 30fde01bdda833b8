-- what a project tells its agents; a table of its own, because every step of a job reads the project
create table project_guidance (
  project_id text primary key references projects (id) on delete cascade,
  instructions text,
  skills jsonb not null default '[]'
);
