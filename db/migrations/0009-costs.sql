-- costs are in millionths of a US dollar; null: the price of the model is not known
alter table job_steps add column cost_micros bigint;
-- of the input tokens, those the provider had in its cache
alter table job_steps add column cached_tokens bigint not null default 0;
-- of all calls for the job; null once one of them has no price
alter table jobs add column cost_micros bigint;
alter table jobs alter column cost_micros set default 0;

-- what one turn of a job, and all jobs of a day (UTC), may cost; null: the installation's setting
alter table projects add column job_budget_micros bigint check (job_budget_micros > 0);
alter table projects add column daily_budget_micros bigint check (daily_budget_micros > 0);

-- what the jobs of a project have cost on a day (UTC); counted by the statement that stores a paid answer
create table project_spending (
  project_id text not null references projects (id),
  day date not null,
  cost_micros bigint not null default 0,
  primary key (project_id, day)
);

-- the most that a call of a model under way may cost; it counts while its job is active, and ends with its answer
create table cost_reservations (
  job_id text not null,
  turn integer not null,
  step integer not null,
  project_id text not null references projects (id),
  cost_micros bigint not null,
  primary key (job_id, turn, step),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);
create index on cost_reservations (project_id);

-- what the service itself says to the agent: the step's call of the model is the first to read it
create table job_notes (
  job_id text not null,
  turn integer not null,
  step integer not null,
  kind text not null,
  text text not null,
  created_at timestamptz not null default now(),
  primary key (job_id, turn, step, kind),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);

-- a summary in place of the conversation up to and with (upto_turn, upto_step), made for the call of (turn, step)
create table job_compactions (
  job_id text not null,
  turn integer not null,
  step integer not null,
  upto_turn integer not null,
  upto_step integer not null,
  summary text not null,
  -- files read and changed, and the todo list, as of upto_step
  ledger jsonb not null,
  -- the job's tree then; compactions without a new tree do not go on for ever
  tree text,
  input_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micros bigint,
  created_at timestamptz not null default now(),
  primary key (job_id, turn, step),
  foreign key (job_id, turn) references job_turns (job_id, turn)
);
