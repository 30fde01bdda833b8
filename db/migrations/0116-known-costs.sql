-- The cost of a job counts its calls whose price is known; a call without a price no longer erases the cost of those before it, which
-- made a counter decrease. Jobs whose cost was erased keep null.
alter table jobs add column is_cost_known boolean not null default true;
