-- A person can dismiss a gap, also one that nobody works on: it is stored as open.
alter table gaps add column dismissed_at timestamptz;
alter table gaps drop constraint gaps_state_check;
alter table gaps add constraint gaps_state_check
  check (state in ('open', 'working', 'indexing', 'asking', 'answered', 'unanswered'));
