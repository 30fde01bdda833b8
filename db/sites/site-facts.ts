import type { PoolClient } from 'pg';

/** Readers of conversations that were held in the dashboard; their questions count neither as gaps nor in figures. */
export const ownFingerprints = ['playground'];

/** Readers without a name; clients send it by default, so that it stands for any number of them. */
export const anonymousFingerprint = 'anonymous';

const isReader = `fp <> all('{${ownFingerprints.join(',')}}')`;
const location = `coalesce(version, ''), coalesce(language, ''), coalesce(topic, '')`;

/** Counts the change of a vote, before it is stored. The caller holds the thread. */
export async function noteVote(
  client: PoolClient,
  vote: { threadId: string; messageId: string; vote: 'up' | 'down' },
): Promise<void> {
  const change = (name: string) => `($3 = '${name}')::integer - coalesce(vote = '${name}', false)::integer`;
  await client.query(
    `insert into site_facts (site_id, at, version, language, topic, up, down)
     select site_id, answer.created_at, ${location}, ${change('up')}, ${change('down')}
     from thread_messages as answer join threads on threads.id = answer.thread_id
     left join message_feedback as earlier on earlier.thread_id = answer.thread_id and message_id = answer.id
     where answer.thread_id = $1 and answer.id = $2 and role = 'assistant' and vote is distinct from $3 and ${isReader}`,
    [vote.threadId, vote.messageId, vote.vote],
  );
}

/** Counts the change of a conversation's outcome. The caller holds the thread. */
export async function noteOutcome(client: PoolClient, threadId: string): Promise<void> {
  await client.query('select note_outcome($1, $2)', [threadId, ownFingerprints]);
}
