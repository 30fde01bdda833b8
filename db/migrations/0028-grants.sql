-- what of the operator's an organization may use: the worker's credential for a hosted repository, and what lies on this
-- machine. `resource` is a canonical grant of workflows/contract/grants.ts
create table grants (
  organization_id text not null references organizations (id) on delete cascade,
  resource text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, resource)
);

-- an organization keeps exactly what its projects and sites use
insert into grants (organization_id, resource)
select organization_id, resource from (
  select organization_id,
         case
           when place like '/%' then place
           -- forges do not tell owners and names apart by their case; ssh is the way to a repository of the forge
           else lower(regexp_replace(place, '^ssh://[^@/]*@(?:(?:alt)?ssh\.)?([^/:]*)(?::\d+)?/', coalesce(rtrim(forge_url, '/'), 'https://\1') || '/'))
         end as resource
  from (
    select organization_id, unnest(array[repository] || allowed_repositories) as place, forge_url, credential is not null as has_own
    from projects
    union all
    select organization_id, repository, null, exists (
             select from projects
             where projects.organization_id = sites.organization_id and credential is not null
               and sites.repository = any (array[projects.repository] || allowed_repositories)
           )
    from sites where repository is not null
    union all
    select organization_id, rtrim(directory, '/'), null, false from sites where directory is not null
  ) as used
  where place like '/%' or not has_own
) as needed
-- a name that ends like a pattern would grant more than was used
where resource not like '%/*' and resource <> ''
on conflict do nothing;
