-- what a reader said of an answer
create table message_feedback (
  thread_id text not null,
  message_id text not null,
  vote text not null check (vote in ('up', 'down')),
  reasons text[] not null default '{}',
  comment text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (thread_id, message_id),
  foreign key (thread_id, message_id) references thread_messages (thread_id, id) on delete cascade
);

create index threads_by_age on threads (site_id, created_at desc, id desc);

-- searches of readers that found nothing, counted by day
create table empty_searches (
  site_id text not null references sites (id) on delete cascade,
  day date not null,
  query text not null,
  count integer not null default 1,
  last_at timestamptz not null default now(),
  primary key (site_id, day, query)
);

-- questions that belong together and that somebody has begun to answer; its id comes from the oldest of them
create table gaps (
  site_id text not null references sites (id) on delete cascade,
  id text not null,
  label text not null,
  -- working: a job was made; indexing: its change is merged; asking: the questions are asked again
  state text not null check (state in ('working', 'indexing', 'asking', 'answered', 'unanswered')),
  -- how often a job was made
  attempt integer not null default 0,
  job_id text references jobs (id),
  checked_at timestamptz,
  -- the process that asks again holds it for so long
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  primary key (site_id, id)
);
create index gaps_under_way on gaps (created_at) where state in ('working', 'indexing', 'asking');

create table gap_questions (
  site_id text not null,
  gap_id text not null,
  -- the question without case and punctuation
  key text not null,
  text text not null,
  count integer not null,
  last_asked_at timestamptz not null,
  -- whether it was answered when it was asked again; null: it has not been
  answered_now boolean,
  primary key (site_id, gap_id, key),
  foreign key (site_id, gap_id) references gaps (site_id, id) on delete cascade
);
