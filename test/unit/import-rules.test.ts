import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A file and a module that it must not import. */
const forbidden: [string, string][] = [
  ['workflows/importer.ts', 'node:fs/promises'],
  ['workflows/importer.ts', 'node:crypto'],
  ['workflows/importer.ts', 'zod'],
  ['workflows/importer.ts', '../activities/model/answer-step.ts'],
  ['workflows/importer.ts', '../db/jobs/jobs.ts'],
  ['workflows/importer.ts', '@temporalio/worker'],
  ['workflows/contract/importer.ts', '../../db/jobs/jobs.ts'],
  ['worker/importer.ts', '../api/app.ts'],
  ['worker/importer.ts', '../local/home.ts'],
  ['api/importer.ts', '../worker/config/config.ts'],
  ['api/importer.ts', '../activities/model/answer-step.ts'],
  ['api/stores.ts', '../db/for-worker/jobs.ts'],
  ['api/jobs/importer.ts', '../../db/for-worker/pull-requests.ts'],
  ['api/stores.ts', '../db/for-service/sweeps.ts'],
  ['api/jobs/importer.ts', '../../db/for-service/session-lookup.ts'],
  ['api/jobs/importer.ts', '../../db/for-operator/organizations.ts'],
  ['api/assistant/importer.ts', '../../db/for-service/access.ts'],
  ['api/service-stores.ts', '../db/for-worker/projects.ts'],
  ['api/service-stores.ts', '../db/for-operator/organizations.ts'],
  ['api/administration/importer.ts', '../../db/for-operator/grants.ts'],
  ['api/assistant/importer.ts', '../../db/for-worker/jobs.ts'],
  ['api/jobs/importer.ts', '../../workflows/job-workflow.ts'],
  ['api/assistant/importer.ts', 'koa'],
  ['activities/importer.ts', '../worker/config/config.ts'],
  ['activities/importer.ts', '../workflows/job-workflow.ts'],
  ['activities/git/importer.ts', '@temporalio/activity'],
  ['activities/mcp/importer.ts', '@temporalio/activity'],
  ['activities/images/importer.ts', '@temporalio/common'],
  ['db/importer.ts', '../search/query/site-index.ts'],
  ['models/importer.ts', '../search/query/site-index.ts'],
  ['lib/encryption/importer.ts', '../../db/jobs/jobs.ts'],
  ['lib/threads/importer.ts', '../../db/jobs/jobs.ts'],
  ['lib/importer.ts', '../db/jobs/jobs.ts'],
  ['lib/importer.ts', '../models/registry.ts'],
  ['lib/redaction/importer.ts', '../../db/jobs/jobs.ts'],
  ['workflows/importer.ts', '../lib/encryption/cipher.ts'],
  ['search/importer.ts', '../db/jobs/jobs.ts'],
  ['dashboard/importer.ts', '../api/app.ts'],
  ['dashboard/pages/importer.ts', '../../db/jobs/jobs.ts'],
  ['lib/tracing/importer.ts', '../../db/jobs/jobs.ts'],
  ['cli/commands/importer.ts', '../../db/jobs/jobs.ts'],
  ['cli/commands/importer.ts', '../../api/jobs/job-schemas.ts'],
  ['cli/commands/importer.ts', '../operator/organization.ts'],
  ['cli/commands/importer.ts', '../../dashboard/http/client.ts'],
  ['cli/http/importer.ts', '../../local/home.ts'],
];

const allowed: [string, string][] = [
  ['activities/importer.ts', '../workflows/contract/messages.ts'],
  ['api/jobs/importer.ts', '../../workflows/contract/messages.ts'],
  ['api/stores.ts', '../db/jobs/jobs.ts'],
  ['api/service-stores.ts', '../db/for-service/sweeps.ts'],
  ['worker/importer.ts', '../activities/index.ts'],
  ['db/importer.ts', '../lib/encryption/secret-box.ts'],
  ['search/importer.ts', '../lib/threads/run-in-thread.ts'],
  ['dashboard/pages/importer.ts', '../http/client.ts'],
  ['cli/http/importer.ts', '../../local/local-json.ts'],
  ['cli/operator/importer.ts', '../../db/jobs/jobs.ts'],
];

/** The imports of each file, one per line. */
const lines = Map.groupBy([...forbidden, ...allowed], ([file]) => file);
const lineOf = (file: string, module: string) => (lines.get(file) ?? []).findIndex(([, other]) => other === module) + 1;
const refusals = new Set<string>();
const folder = temporaryDirectory();

beforeAll(() => {
  cpSync('oxlint.config.ts', join(folder, 'oxlint.config.ts'));
  for (const [file, imports] of lines) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    const text = imports.map(([, module], at) => `export { thing as thing${at} } from '${module}';`);
    writeFileSync(join(folder, file), `${text.join('\n')}\n`);
  }
  const args = ['--deny-warnings', '--format=json'];
  const { stdout, status } = spawnSync(resolve('node_modules/.bin/oxlint'), args, { cwd: folder, encoding: 'utf8' });
  expect(status).not.toBe(0);
  for (const { code, filename, labels } of JSON.parse(stdout).diagnostics)
    if (code.includes('no-restricted-imports')) refusals.add(`${filename}:${labels[0].span.line}`);
});

describe('the import rules', () => {
  it.each(forbidden)('refuse that %s imports %s', (file, module) => {
    expect(refusals).toContain(`${file}:${lineOf(file, module)}`);
  });

  it.each(allowed)('allow that %s imports %s', (file, module) => {
    expect(refusals).not.toContain(`${file}:${lineOf(file, module)}`);
  });
});
