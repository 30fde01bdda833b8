-- question set that a new index must answer about as well as the current one before it is used
alter table sites
  add column guard_set_id text references question_sets (id) on delete set null,
  add column guard_margin real check (guard_margin between 0 and 1),
  -- whether the pending request uses the new index in any case
  add column index_forced boolean not null default false;
create index on sites (guard_set_id) where guard_set_id is not null;
