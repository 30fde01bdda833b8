-- what happens to statements of an answer that its sources do not support, and whom a reader may ask instead
alter table sites
  add column unsupported text not null default 'mark' check (unsupported in ('mark', 'cut')),
  add column contact text;
