-- null for what the model does by default
alter table projects add column reasoning_effort text;
alter table projects add column max_output_tokens integer;
alter table jobs add column reasoning_effort text;
alter table jobs add column max_output_tokens integer;
