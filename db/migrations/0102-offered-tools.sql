-- names, descriptions and schemas of the tools that a job's model was offered, once for each different set
create table job_tools (
  job_id text not null references jobs (id) on delete cascade,
  -- of the definitions
  hash text not null,
  -- json keeps them as they were sent
  definitions json not null,
  primary key (job_id, hash)
);
-- the set that the call of the step was made with; null in steps of earlier versions
alter table job_steps add column tools_hash text;
