import type { FoundCanary } from '../../support/canary-secrets.ts';

/**
 * Texts of people and of the documentation, and the owner's settings, are stored word for word: a secret typed there
 * stays, as SECURITY.md says.
 */
const said = [
  'job_turns.prompt',
  'job_messages.prompt',
  'jobs.idempotency_key',
  'thread_messages.content',
  'thread_messages.search_query',
  'thread_messages.sources',
  'reply_chunks.data',
  'site_index_blocks.data',
  'sites.path',
  'webhook_endpoints.url',
];

/**
 * What models and repositories say is stored with everything that only looks like a secret: masked there, it would be masked
 * in the repository's files, too. Secrets that the worker knows are in none of it.
 */
const worked = [
  'job_steps.response',
  'job_steps.tool_results',
  'job_steps.patch',
  'job_snapshots.pack',
  'job_snapshots.patch',
  'job_effects.result',
  // an agent reviews its diff
  'job_notes.text',
];

/** Reports whether a secret may be stored there. */
export function isMeant({ place, kind }: FoundCanary): boolean {
  // the provider reads the transcript
  if (kind === 'shaped' && place === 'model: request') return true;
  return (kind === 'shaped' ? [...said, ...worked] : said).some((column) => place === `database: ${column}`);
}
