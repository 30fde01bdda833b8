-- what an admin key may do; for assistant keys it has no meaning
alter table api_keys add column role text not null default 'admin' check (role in ('admin', 'member', 'viewer'));
-- a session may do what both its key and its sign-in link allow
alter table sessions add column role text not null default 'admin' check (role in ('admin', 'member', 'viewer'));
alter table sign_in_links add column role text not null default 'admin' check (role in ('admin', 'member', 'viewer'));
