-- what a person said while a turn was under way; each belongs to that turn
create table job_messages (
  job_id text not null,
  turn integer not null,
  position integer not null,
  prompt text not null,
  -- the step whose call of the model is the first to read it; null while it waits
  step integer,
  created_at timestamptz not null default now(),
  primary key (job_id, turn, position),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);

-- keys that messages came with
create table job_message_keys (
  job_id text not null references jobs (id),
  key text not null,
  request_hash text not null,
  created_at timestamptz not null default now(),
  primary key (job_id, key)
);

-- cancels that the engine has not confirmed yet; written when the job's row ends
create table job_cancels (
  job_id text not null,
  turn integer not null,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  primary key (job_id, turn)
);
create index on job_cancels (next_attempt_at);

-- messages that the step's call of the model has to read
alter table job_steps add column messages integer not null default 0;

-- in the job's row, so that its end and a message that arrives at the same moment see each other
alter table jobs add column waiting_messages integer not null default 0;
alter table jobs add column pr_state text check (pr_state in ('open', 'closed', 'merged'));
alter table jobs add column pr_checked_at timestamptz;
create index jobs_ended on jobs (ended_at) where status in ('completed', 'failed');

-- the tree the working copy was made equal to after `tree_step`, because others had changed the branch
alter table job_turns add column tree text;
alter table job_turns add column tree_step integer;
