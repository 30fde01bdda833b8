-- the MCP servers that a project's agents may use; their credentials are sealed together
create table project_tools (
  project_id text primary key references projects (id) on delete cascade,
  servers jsonb not null default '[]',
  credentials text
);
