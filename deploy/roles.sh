#!/bin/sh
# Runs once, when the volume is empty: a role for Temporal and one for Docket.
psql -v ON_ERROR_STOP=1 -v t="$TEMPORAL_DB_PASSWORD" -v d="$DOCKET_DB_PASSWORD" -U postgres <<'SQL'
CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'t';
CREATE ROLE docket LOGIN PASSWORD :'d';
CREATE DATABASE docket OWNER docket;
SQL
