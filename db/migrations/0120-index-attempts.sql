-- how often the present run has begun to build the site's index; a run counts its own, because Temporal also counts those that only
-- waited for a slot
alter table sites add column index_attempts integer not null default 0;
