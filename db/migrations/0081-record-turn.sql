-- Stores a turn in one round trip. Each of its statements sees what was committed before it, so that the second one counts
-- under the lock that the first one takes.

-- Counts the change of a conversation's outcome. The caller holds the thread. A conversation counts at its beginning, in
-- the place of its first answer. It is resolved while its latest question is answered and no answer is rated down, and
-- confirmed if, in addition, an answer is rated up. The conversations of `own` readers do not count.
create function note_outcome(of_thread text, own text[]) returns void
language sql
as $$
  with answers as materialized (
    select position, answered and ending = 'finished' as answered, version, language, topic,
           (select vote from message_feedback where thread_id = of_thread and message_id = thread_messages.id) as vote
    from thread_messages where thread_id = of_thread and role = 'assistant'
  ), now_is as (
    select case when not (array_agg(answered order by position desc))[1] or coalesce(bool_or(vote = 'down'), false) then 'open'
                when bool_or(vote = 'up') then 'confirmed' else 'resolved' end as outcome
    from answers having count(*) > 0
  ), before as (
    select id, outcome from threads where id = of_thread
  ), changed as (
    update threads set outcome = now_is.outcome from now_is, before
    where threads.id = before.id and before.outcome is distinct from now_is.outcome
    returning site_id, created_at, fp, before.outcome as before, now_is.outcome as outcome
  )
  insert into site_facts (site_id, at, version, language, topic, conversations, resolved, confirmed)
  select site_id, created_at, coalesce(version, ''), coalesce(language, ''), coalesce(topic, ''), (before is null)::integer,
         (outcome <> 'open')::integer - coalesce(before <> 'open', false)::integer,
         (outcome = 'confirmed')::integer - coalesce(before = 'confirmed', false)::integer
  from changed, (select * from answers order by position limit 1) as first where fp <> all(own)
$$;

-- Stores a question and then its answer, and counts the answer; nothing when the thread was deleted or is another site's,
-- when the site stores nothing any more, or when the thread has `most` messages. A question that is answered again keeps
-- its one row.
create function record_turn(of_thread text, of_site text, of_organization text, turn jsonb, most integer, own text[])
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
      (thread_id, id, role, content, current_path, sources, model, answered, ending, first_token_ms, duration_ms, cost_micros,
       topic, version, language)
    select of_thread, message.id, message.role, message.content, message.current_path, coalesce(message.sources, '[]'),
           message.model, message.answered, message.ending, message.first_token_ms, message.duration_ms, message.cost_micros,
           message.topic, message.version, message.language
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
