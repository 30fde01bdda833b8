-- token for the forge, sealed for this project alone
alter table projects add column credential text;
