-- wakes the processes that serve a site, so that they seldom look for a newer index
create trigger announce_index after update of index_version on sites for each row
when (new.index_version is distinct from old.index_version) execute function announce_work();
