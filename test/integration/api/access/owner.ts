import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { expect } from 'vitest';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { pngOf } from '../../../support/sandbox/images.ts';
import { buildIndexedSite, eventsOf, question } from '../../assistant/site.ts';
import type { ServedApi } from '../serve.ts';

export type Kind = 'admin' | 'assistant';

/** An organization with one of everything. */
export interface Owner {
  organizationId: string;
  keys: Record<Kind, string>;
  /** The values of path placeholders, by the segment before them. */
  ids: Record<string, string>;
}

/** An address for webhooks at which nothing listens. */
export const receiver = 'http://127.0.0.1:9/hook';

/** Creates an organization with one of everything; what only the API can create is created through it. */
export async function createOwner(pool: Pool, api: ServedApi): Promise<Owner> {
  const { site, organizationId, adminKey, assistantKey } = await buildIndexedSite(pool);
  const project = await buildProject(pool, { organizationId });
  const keys = { admin: adminKey, assistant: assistantKey };
  const post = async (key: string, path: string, json?: unknown) => {
    const answer = await api.ask(path, { key, json, method: 'POST' });
    expect(answer.status, `${path}: ${answer.text.slice(0, 300)}`).toBeLessThan(300);
    return answer;
  };
  const base = `/v2/agent/${project.id}`;
  const { body: webhook } = await post(adminKey, `${base}/webhooks`, { url: receiver });
  const secret = `SECRET_${project.id}`;
  await post(adminKey, `/v1/projects/${project.id}/secrets`, { name: secret, value: 'secret-value' });
  const { body: delivery } = await post(adminKey, `${base}/webhooks/${webhook.id}/ping`);
  const reply = await post(assistantKey, `/discovery/v2/assistant/${site.domain}/message`, question('retries?'));
  await post(
    assistantKey,
    `/discovery/v2/assistant/${site.domain}/message`,
    question(`How is ${site.domain} painted?`),
  );
  const found = await api.ask(`/v1/sites/${site.domain}/gaps`, { key: adminKey });
  const { body: set } = await post(adminKey, `/v1/sites/${site.domain}/question-sets`, {
    name: 'Known',
    questions: [{ text: 'retries?' }],
  });
  const { body: evaluation } = await post(adminKey, `/v1/sites/${site.domain}/evaluations`, { setId: set.id });
  await post(adminKey, `/v1/sites/${site.domain}/evaluations/${evaluation.id}/stop`);
  const answered = eventsOf(reply.text).find(({ type }) => type === 'start');
  const pullRequest = await createWorkerPullRequestStore(pool).create({
    repository: project.repository,
    head: `docket/${project.id}`,
    base: 'main',
    title: 'Change',
    body: '',
    draft: false,
  });
  const job = await buildJob(pool, project, { prId: pullRequest.id });
  await pool.query(`insert into job_steps (job_id, turn, step, fence, tree) values ($1, 1, 1, 1, 'tree')`, [job.id]);
  const hash = randomBytes(32).toString('hex');
  await pool.query('insert into job_images (job_id, hash, content) values ($1, $2, $3)', [job.id, hash, pngOf()]);
  return {
    organizationId,
    keys,
    ids: {
      agent: project.id,
      projects: project.id,
      sites: site.domain,
      keys: (await buildKey(pool, { organizationId })).row.id,
      gaps: found.body.gaps[0].id,
      'question-sets': set.id,
      evaluations: evaluation.id,
      answer: answered?.['messageId'] ?? '',
      site: site.id,
      organization: organizationId,
      job: job.id,
      steps: '1',
      images: hash,
      '{turn}': '1',
      'pull-requests': pullRequest.id,
      secrets: secret,
      webhooks: webhook.id,
      deliveries: delivery.id,
      assistant: site.domain,
      search: site.domain,
      suggest: site.domain,
      page: site.domain,
      docs: site.domain,
      mcp: site.domain,
      '{domain}': 'guides/retries',
      thread: reply.headers.get('x-thread-id') ?? '',
      message: 'chat-1',
    },
  };
}

/** The parts of an organization that are created without the API. */
export async function insertForeignRows(pool: Pool, { ids, organizationId }: Owner): Promise<void> {
  await pool.query(`update jobs set idempotency_key = 'known', request_hash = 'h' where id = $1`, [ids['job']]);
  await pool.query(
    `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files)
     values ($1, 'tree', 'c', 'base', '', '+x', 1)`,
    [ids['job']],
  );
  await pool.query(`update jobs set base_commit = 'base', head_tree = 'tree' where id = $1`, [ids['job']]);
  await pool.query(
    `update pull_requests set organization_id = $2, opened_by = $3, opened_in = 1, link = 'https://forge.example/1' where id = $1`,
    [ids['pull-requests'], organizationId, ids['job']],
  );
  await pool.query(`insert into job_history_exports (job_id, turn, state) values ($1, 1, 'exported')`, [ids['job']]);
  await pool.query(
    `insert into job_histories (job_id, turn, run, run_id, history, event_count, build_ids)
     values ($1, 1, 1, 'r', 'history', 1, '{}')`,
    [ids['job']],
  );
  await pool.query(`insert into empty_searches (site_id, day, query) values ($1, current_date, 'heron')`, [
    ids['site'],
  ]);
  await pool.query(`insert into gaps (site_id, id, label, state) values ($1, $2, 'x', 'answered')`, [
    ids['site'],
    ids['gaps'],
  ]);
  // durations alone may be the same in two organizations
  await pool.query(
    `insert into operation_facts (organization_id, at, kind, category) values ($1, now(), 'failed', 'known')`,
    [organizationId],
  );
  await pool.query(
    `insert into sessions (id, organization_id, key_id, expires_at) values ('ses_x', $1, $2, now() + interval '1 hour')`,
    [organizationId, ids['keys']],
  );
}

/** The ids that no other organization can have: two may each have a site with the same domain, and the same page. */
export function secretIdsOf({ ids }: Pick<Owner, 'ids'>): string[] {
  const shared = [ids['sites'], ids['{domain}']];
  return Object.values(ids).filter((id) => id.length > 8 && !shared.includes(id));
}
