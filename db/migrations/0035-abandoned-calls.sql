-- model calls under way, and those that a killed worker left behind
create index job_steps_asked on job_steps (job_id) where asked_micros > 0;
