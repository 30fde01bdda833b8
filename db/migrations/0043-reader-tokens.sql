-- verifies the tokens that prove a reader's groups; the key is sealed for this site alone
alter table sites
  add column reader_issuer text,
  add column reader_algorithm text check (reader_algorithm in ('HS256', 'EdDSA')),
  add column reader_key text,
  add check (num_nulls(reader_issuer, reader_algorithm, reader_key) in (0, 3));
