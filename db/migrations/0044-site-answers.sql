-- what the answers of a site have cost on a day (UTC)
create table site_spending (
  site_id text not null references sites (id) on delete cascade,
  day date not null,
  cost_micros bigint not null default 0,
  primary key (site_id, day)
);

alter table sites
  add column answer_budget_micros bigint,
  add column instructions text,
  add column starter_questions text[] not null default '{}';
