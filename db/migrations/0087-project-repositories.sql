-- what the newest first turn of a project's jobs found in its repository, for the form of a new job; only suggestions
create table project_repositories (
  project_id text primary key references projects (id) on delete cascade,
  -- a project may change to another repository
  repository text not null,
  branches text[] not null,
  documents text[] not null
);
