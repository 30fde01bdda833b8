import type { PlantedFind } from '../../support/planted-secrets.ts';

/**
 * What people and documentation say is kept word for word, and so is what the owner set up: whoever types a secret there finds
 * it there. SECURITY.md says so.
 */
const said = [
  'job_turns.prompt',
  'job_messages.prompt',
  'jobs.idempotency_key',
  'thread_messages.content',
  'thread_messages.sources',
  'reply_chunks.data',
  'site_index_blocks.data',
  'sites.path',
  'webhook_endpoints.url',
];

/**
 * What models and repositories say is kept with what merely looks like a secret: masked there, it would be masked in the
 * repository's files too. A secret that the worker knows stands in none of it.
 */
const worked = [
  'job_steps.response',
  'job_steps.tool_results',
  'job_steps.patch',
  'job_snapshots.pack',
  'job_snapshots.patch',
  'job_effects.result',
];

/** Whether a secret may stand there. */
export function isMeant({ place, kind }: PlantedFind): boolean {
  // the provider reads what the transcript holds
  if (kind === 'shaped' && place === 'model: request') return true;
  return (kind === 'shaped' ? [...said, ...worked] : said).some((column) => place === `database: ${column}`);
}
