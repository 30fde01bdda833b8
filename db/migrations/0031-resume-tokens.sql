-- SHA-256 of the secret that a reader got with the reply; one that was begun before this column cannot be resumed
alter table replies add column resume_digest bytea;
