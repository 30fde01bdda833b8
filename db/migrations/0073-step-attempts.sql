-- process of the newest attempt, and when it claimed the step; null for the first attempt, which claimed it at started_at
alter table job_steps add column worker text;
alter table job_steps add column claimed_at timestamptz;
-- attempts that another one followed before the step had ended: attempt, worker, startedAt, endedAt; null for none
alter table job_steps add column lost_attempts jsonb;
