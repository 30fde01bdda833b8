import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** A file and a module that it must not import. */
const planted: [string, string][] = [
  ['workflows/plant.ts', 'node:fs/promises'],
  ['workflows/plant.ts', 'node:crypto'],
  ['workflows/plant.ts', 'zod'],
  ['workflows/plant.ts', '../activities/model/answer-step.ts'],
  ['workflows/plant.ts', '../db/jobs/jobs.ts'],
  ['workflows/plant.ts', '@temporalio/worker'],
  ['workflows/contract/plant.ts', '../../db/jobs/jobs.ts'],
  ['worker/plant.ts', '../api/app.ts'],
  ['worker/plant.ts', '../local/home.ts'],
  ['api/plant.ts', '../worker/config/config.ts'],
  ['api/plant.ts', '../activities/model/answer-step.ts'],
  ['api/stores.ts', '../db/for-worker/jobs.ts'],
  ['api/jobs/plant.ts', '../../db/for-worker/pull-requests.ts'],
  ['api/stores.ts', '../db/for-service/sweeps.ts'],
  ['api/jobs/plant.ts', '../../db/for-service/session-lookup.ts'],
  ['api/jobs/plant.ts', '../../db/for-operator/organizations.ts'],
  ['api/assistant/plant.ts', '../../db/for-service/access.ts'],
  ['api/service-stores.ts', '../db/for-worker/projects.ts'],
  ['api/service-stores.ts', '../db/for-operator/organizations.ts'],
  ['api/administration/plant.ts', '../../db/for-operator/grants.ts'],
  ['api/assistant/plant.ts', '../../db/for-worker/jobs.ts'],
  ['api/jobs/plant.ts', '../../workflows/job-workflow.ts'],
  ['api/assistant/plant.ts', 'koa'],
  ['activities/plant.ts', '../worker/config/config.ts'],
  ['activities/plant.ts', '../workflows/job-workflow.ts'],
  ['activities/git/plant.ts', '@temporalio/activity'],
  ['db/plant.ts', '../search/query/site-index.ts'],
  ['models/plant.ts', '../search/query/site-index.ts'],
  ['lib/encryption/plant.ts', '../../db/jobs/jobs.ts'],
  ['lib/threads/plant.ts', '../../db/jobs/jobs.ts'],
  ['lib/plant.ts', '../db/jobs/jobs.ts'],
  ['lib/plant.ts', '../models/registry.ts'],
  ['lib/redaction/plant.ts', '../../db/jobs/jobs.ts'],
  ['workflows/plant.ts', '../lib/encryption/cipher.ts'],
  ['search/plant.ts', '../db/jobs/jobs.ts'],
  ['dashboard/plant.ts', '../api/app.ts'],
  ['dashboard/pages/plant.ts', '../../db/jobs/jobs.ts'],
  ['lib/tracing/plant.ts', '../../db/jobs/jobs.ts'],
  ['cli/commands/plant.ts', '../../db/jobs/jobs.ts'],
  ['cli/commands/plant.ts', '../../api/jobs/job-schemas.ts'],
  ['cli/commands/plant.ts', '../operator/organization.ts'],
  ['cli/commands/plant.ts', '../../dashboard/http/client.ts'],
  ['cli/http/plant.ts', '../../local/home.ts'],
];

const allowed: [string, string][] = [
  ['activities/plant.ts', '../workflows/contract/messages.ts'],
  ['api/jobs/plant.ts', '../../workflows/contract/messages.ts'],
  ['api/stores.ts', '../db/jobs/jobs.ts'],
  ['api/service-stores.ts', '../db/for-service/sweeps.ts'],
  ['worker/plant.ts', '../activities/index.ts'],
  ['db/plant.ts', '../lib/encryption/secret-box.ts'],
  ['search/plant.ts', '../lib/threads/run-in-thread.ts'],
  ['dashboard/pages/plant.ts', '../http/client.ts'],
  ['cli/http/plant.ts', '../../local/local-json.ts'],
  ['cli/operator/plant.ts', '../../db/jobs/jobs.ts'],
];

/** One line of a file for each import planted in it. */
const lines = Map.groupBy([...planted, ...allowed], ([file]) => file);
const lineOf = (file: string, module: string) => (lines.get(file) ?? []).findIndex(([, other]) => other === module) + 1;
const refusals = new Set<string>();
const folder = mkdtempSync(join(tmpdir(), 'docket-lint-'));

beforeAll(() => {
  cpSync('.oxlintrc.json', join(folder, '.oxlintrc.json'));
  for (const [file, imports] of lines) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    const text = imports.map(([, module], at) => `export { thing as plant${at} } from '${module}';`);
    writeFileSync(join(folder, file), `${text.join('\n')}\n`);
  }
  const args = ['--deny-warnings', '--format=json'];
  const { stdout, status } = spawnSync(resolve('node_modules/.bin/oxlint'), args, { cwd: folder, encoding: 'utf8' });
  expect(status).not.toBe(0);
  for (const { code, filename, labels } of JSON.parse(stdout).diagnostics)
    if (code.includes('no-restricted-imports')) refusals.add(`${filename}:${labels[0].span.line}`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the import rules', () => {
  it.each(planted)('refuse that %s imports %s', (file, module) => {
    expect(refusals).toContain(`${file}:${lineOf(file, module)}`);
  });

  it.each(allowed)('allow that %s imports %s', (file, module) => {
    expect(refusals).not.toContain(`${file}:${lineOf(file, module)}`);
  });
});
