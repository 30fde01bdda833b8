-- the most that a model call of an answer in flight may cost, which is counted in the spending of its day until the call is
-- settled; a call that never is, because its process was killed, costs lost_micros once its reservation expires
create table answer_holds (
  id bigint generated always as identity primary key,
  organization_id text not null references organizations (id) on delete cascade,
  site_id text not null,
  day date not null,
  cost_micros bigint not null,
  lost_micros bigint not null,
  expires_at timestamptz not null
);
