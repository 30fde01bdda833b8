import type { PoolClient } from 'pg';

/** Readers of conversations that were held in the dashboard; their questions count neither as gaps nor in figures. */
export const ownFingerprints = ['playground'];

const isReader = `fp <> all('{${ownFingerprints.join(',')}}')`;
const place = `coalesce(version, ''), coalesce(language, ''), coalesce(topic, '')`;

/** Returns a statement that counts the answers which the CTE `added` has inserted into `thread_messages`. */
export const noteAnswer = (added: string) => `
  insert into site_facts (site_id, at, version, language, topic, answered, unanswered, interrupted, cost_micros, cited)
  select site_id, answer.created_at, ${place},
         (ending = 'finished' and answered)::integer, (ending = 'finished' and not answered)::integer, (ending <> 'finished')::integer,
         cost_micros, array(select distinct source ->> 'path' from jsonb_array_elements(sources) as source)
  from ${added} as answer join threads on threads.id = thread_id where ${isReader}`;

/** Counts the change of a vote, before it is stored. The caller holds the thread. */
export async function noteVote(
  client: PoolClient,
  vote: { threadId: string; messageId: string; vote: 'up' | 'down' },
): Promise<void> {
  const change = (name: string) => `($3 = '${name}')::integer - coalesce(vote = '${name}', false)::integer`;
  await client.query(
    `insert into site_facts (site_id, at, version, language, topic, up, down)
     select site_id, answer.created_at, ${place}, ${change('up')}, ${change('down')}
     from thread_messages as answer join threads on threads.id = answer.thread_id
     left join message_feedback as earlier on earlier.thread_id = answer.thread_id and message_id = answer.id
     where answer.thread_id = $1 and answer.id = $2 and role = 'assistant' and vote is distinct from $3 and ${isReader}`,
    [vote.threadId, vote.messageId, vote.vote],
  );
}

/**
 * Counts the change of a conversation's outcome. The caller holds the thread. A conversation counts at its beginning, in
 * the place of its first answer. It is resolved while its latest question is answered and no answer is rated down, and
 * confirmed if, in addition, an answer is rated up.
 */
export async function noteOutcome(client: PoolClient, threadId: string): Promise<void> {
  await client.query({
    name: 'note-outcome',
    text: `
      with answers as materialized (
        select position, answered and ending = 'finished' as answered, version, language, topic,
               (select vote from message_feedback where thread_id = $1 and message_id = thread_messages.id) as vote
        from thread_messages where thread_id = $1 and role = 'assistant'
      ), now_is as (
        select case when not (array_agg(answered order by position desc))[1] or coalesce(bool_or(vote = 'down'), false) then 'open'
                    when bool_or(vote = 'up') then 'confirmed' else 'resolved' end as outcome
        from answers having count(*) > 0
      ), before as (
        select id, outcome from threads where id = $1
      ), changed as (
        update threads set outcome = now_is.outcome from now_is, before
        where threads.id = before.id and before.outcome is distinct from now_is.outcome
        returning site_id, created_at, fp, before.outcome as before, now_is.outcome as outcome
      )
      insert into site_facts (site_id, at, version, language, topic, conversations, resolved, confirmed)
      select site_id, created_at, ${place}, (before is null)::integer,
             (outcome <> 'open')::integer - coalesce(before <> 'open', false)::integer,
             (outcome = 'confirmed')::integer - coalesce(before = 'confirmed', false)::integer
      from changed, (select * from answers order by position limit 1) as first where ${isReader}`,
    values: [threadId],
  });
}
