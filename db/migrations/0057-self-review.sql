-- null for DOCKET_SELF_REVIEW
alter table projects add column self_review boolean;
