-- the organization of a key tells which site a domain means
alter table sites drop constraint sites_domain_key;
alter table sites add unique (organization_id, domain);
drop index sites_organization_id_idx;

-- who signed in, as their link named them
alter table sign_in_links add column person text;
alter table sessions add column person text;
alter table audit_entries add column person text;
