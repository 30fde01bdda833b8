-- when a chore is due that one process does for all; the process that moves the time does it
create table chores (
  name text primary key,
  due_at timestamptz not null
);
