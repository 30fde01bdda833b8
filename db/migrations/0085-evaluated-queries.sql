-- the query of a rewritten question that an evaluation searched for
alter table evaluation_results add column search_query text;
