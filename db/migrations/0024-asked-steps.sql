-- until when an attempt is known to be asking the model for the step; null: none is
alter table job_steps add column asked_until timestamptz;
