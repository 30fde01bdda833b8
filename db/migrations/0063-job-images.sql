-- images of prompts, and of files that a model has read, once for each job
create table job_images (
  job_id text not null references jobs (id) on delete cascade,
  -- SHA-256 of the content
  hash text not null,
  content bytea not null,
  primary key (job_id, hash)
);
-- compressed already
alter table job_images alter column content set storage external;
-- what the prompts show: hash, type, size and name of each image
alter table job_turns add column images jsonb not null default '[]';
alter table job_messages add column images jsonb not null default '[]';
