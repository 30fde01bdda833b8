alter table projects drop constraint projects_forge_check;
alter table projects add constraint projects_forge_check check (forge in ('local', 'github', 'gitlab', 'gitea'));
-- the address people reach the forge at; null: the root of where the repository lies
alter table projects add column forge_url text;

-- marks of the project's pull requests: logins and names of labels
alter table projects add column reviewers text[] not null default '{}';
alter table projects add column labels text[] not null default '{}';
alter table projects add column assignees text[] not null default '{}';

-- globs of what jobs may change; empty: everything
alter table projects add column allowed_paths text[] not null default '{}';
-- whether jobs may change what the forge runs by itself, such as .github/workflows
alter table projects add column may_change_workflows boolean not null default false;
