-- what the call of the step's model under way costs at least, should its answer never come; 0 once that is settled
alter table job_steps add column asked_micros bigint not null default 0;
-- what calls cost whose answers never came
alter table job_steps add column lost_micros bigint not null default 0;
