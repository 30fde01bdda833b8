-- the model that rewrites a question which needs its conversation, and the query that was then searched for
alter table sites add column query_rewriting text;
alter table thread_messages add column search_query text;

-- Stores a question and then its answer, and counts the answer; nothing when the thread was deleted or is another site's,
-- when the site stores nothing any more, or when the thread has `most` messages. A question that is answered again keeps
-- its one row.
create or replace function record_turn(of_thread text, of_site text, of_organization text, turn jsonb, most integer, own text[])
returns void
language plpgsql
as $$
begin
  update threads set updated_at = now() from sites
  where threads.id = of_thread and sites.id = of_site and sites.organization_id = of_organization and retention_days > 0
    and threads.site_id = sites.id and threads.organization_id = sites.organization_id;
  if not found then
    return;
  end if;
  with room as (
    select count(*) < most as fits from (select from thread_messages where thread_id = of_thread limit most) as messages
  ), added as (
    insert into thread_messages
      (thread_id, id, role, content, current_path, search_query, sources, model, answered, ending, first_token_ms, duration_ms,
       cost_micros, topic, version, language)
    select of_thread, message.id, message.role, message.content, message.current_path, message.search_query,
           coalesce(message.sources, '[]'), message.model, message.answered, message.ending, message.first_token_ms,
           message.duration_ms, message.cost_micros, message.topic, message.version, message.language
    from room, jsonb_populate_recordset(null::thread_messages, turn) as message
    where fits order by message.role desc
    on conflict (thread_id, id) do nothing returning *
  )
  insert into site_facts (site_id, at, version, language, topic, answered, unanswered, interrupted, cost_micros, cited)
  select site_id, answer.created_at, coalesce(version, ''), coalesce(language, ''), coalesce(topic, ''),
         (ending = 'finished' and answered)::integer, (ending = 'finished' and not answered)::integer, (ending <> 'finished')::integer,
         cost_micros, array(select distinct source ->> 'path' from jsonb_array_elements(sources) as source)
  from added as answer join threads on threads.id = thread_id where role = 'assistant' and fp <> all(own);
  perform note_outcome(of_thread, own);
end
$$;
