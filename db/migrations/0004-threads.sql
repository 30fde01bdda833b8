create table threads (
  id text primary key,
  site_id text not null references sites (id),
  organization_id text not null references organizations (id),
  fp text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on threads (site_id, updated_at);

create table thread_messages (
  thread_id text not null references threads (id) on delete cascade,
  -- an id may be the client's own: it is unique within its thread only
  id text not null,
  -- order of writing; both messages of a turn have one time
  position bigint generated always as identity,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  sources jsonb not null default '[]',
  model text,
  current_path text,
  -- for an assistant message: whether the documentation answered, and how the reply ended
  answered boolean,
  ending text check (ending in ('finished', 'failed', 'aborted')),
  first_token_ms integer,
  duration_ms integer,
  created_at timestamptz not null default now(),
  primary key (thread_id, id)
);
create index on thread_messages (thread_id, position);

-- replies that run or ran a short time ago, byte for byte, so that any API process can resume one
create table replies (
  id text primary key,
  site_id text not null references sites (id),
  -- the client's id of the chat, as in GET …/message/{chatId}/stream
  chat_id text not null,
  key_id text not null,
  thread_id text not null,
  protocol text not null check (protocol in ('v1', 'v2')),
  created_at timestamptz not null default now(),
  -- the writer renews it; a reply whose writer died is ended by whoever resumes it
  heartbeat_at timestamptz not null default now(),
  ended_at timestamptz,
  -- the first connection took every byte
  delivered boolean not null default false,
  delete_after timestamptz not null default now() + interval '10 minutes'
);
create index on replies (site_id, chat_id, created_at desc);
create index on replies (delete_after);
create index on replies (thread_id);

create table reply_chunks (
  reply_id text not null references replies (id) on delete cascade,
  position integer not null,
  data text not null,
  primary key (reply_id, position)
);
