-- format of the index for which a page was read; a page of another one is read again
alter table website_pages add column format integer not null default 0;
