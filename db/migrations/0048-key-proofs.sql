-- whether browsers must solve a challenge before a public key answers them
alter table api_keys add column proof_of_work boolean not null default false;
