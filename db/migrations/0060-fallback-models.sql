-- models that are asked while those before them are down, in this order
alter table projects add column fallback_models text[] not null default '{}';
alter table jobs add column fallback_models text[] not null default '{}';
-- models that failed lately, each with the time until which the job does not ask it
alter table jobs add column models_down jsonb not null default '{}';

-- the model that answered; null in steps of earlier versions
alter table job_steps add column model text;
-- failed calls by model
alter table job_steps add column failed_models jsonb not null default '{}';
