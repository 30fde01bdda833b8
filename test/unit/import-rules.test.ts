import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const planted: [string, string][] = [
  ['workflows/plant.ts', 'node:fs/promises'],
  ['workflows/plant.ts', 'node:crypto'],
  ['workflows/plant.ts', 'zod'],
  ['workflows/plant.ts', '../activities/model/model.ts'],
  ['workflows/plant.ts', '../db/jobs/jobs.ts'],
  ['workflows/plant.ts', '@temporalio/worker'],
  ['workflows/contract/plant.ts', '../../db/jobs/jobs.ts'],
  ['worker/plant.ts', '../api/app.ts'],
  ['worker/plant.ts', '../local/home.ts'],
  ['api/plant.ts', '../worker/config/config.ts'],
  ['api/plant.ts', '../activities/model/model.ts'],
  ['api/stores.ts', '../db/for-worker/jobs.ts'],
  ['api/jobs/plant.ts', '../../db/for-worker/pull-requests.ts'],
  ['api/stores.ts', '../db/for-service/sweeps.ts'],
  ['api/jobs/plant.ts', '../../db/for-service/session-lookup.ts'],
  ['api/jobs/plant.ts', '../../db/for-operator/organizations.ts'],
  ['api/assistant/plant.ts', '../../db/for-service/access.ts'],
  ['api/service-stores.ts', '../db/for-worker/projects.ts'],
  ['api/service-stores.ts', '../db/for-operator/organizations.ts'],
  ['api/assistant/plant.ts', '../../db/for-worker/jobs.ts'],
  ['api/jobs/plant.ts', '../../workflows/job-workflow.ts'],
  ['api/assistant/plant.ts', 'koa'],
  ['activities/plant.ts', '../worker/config/config.ts'],
  ['activities/plant.ts', '../workflows/job-workflow.ts'],
  ['activities/git/plant.ts', '@temporalio/activity'],
  ['db/plant.ts', '../search/query/site-index.ts'],
  ['models/plant.ts', '../search/query/site-index.ts'],
  ['lib/encryption/plant.ts', '../../db/jobs/jobs.ts'],
  ['lib/patches/plant.ts', '../../db/jobs/jobs.ts'],
  ['lib/plant.ts', '../db/jobs/jobs.ts'],
  ['lib/plant.ts', '../models/registry.ts'],
  ['lib/redaction/plant.ts', '../../db/jobs/jobs.ts'],
  ['workflows/plant.ts', '../lib/encryption/cipher.ts'],
  ['search/plant.ts', '../db/jobs/jobs.ts'],
  ['dashboard/plant.ts', '../api/app.ts'],
  ['dashboard/pages/plant.ts', '../../db/jobs/jobs.ts'],
  ['lib/tracing/plant.ts', '../../db/jobs/jobs.ts'],
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
];

const folder = mkdtempSync(join(tmpdir(), 'docket-lint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lint(file: string, module: string): { status: number | null; output: string } {
  const root = mkdtempSync(join(folder, 'case-'));
  cpSync('.oxlintrc.json', join(root, '.oxlintrc.json'));
  mkdirSync(join(root, dirname(file)), { recursive: true });
  writeFileSync(join(root, file), `import { thing } from '${module}';\nexport const planted = thing;\n`);
  const result = spawnSync(resolve('node_modules/.bin/oxlint'), ['--deny-warnings'], { cwd: root, encoding: 'utf8' });
  return { status: result.status, output: result.stdout + result.stderr };
}

describe('the import rules', () => {
  it.each(planted)('refuse that %s imports %s', (file, module) => {
    const { status, output } = lint(file, module);
    expect(output).toContain('no-restricted-imports');
    expect(status).not.toBe(0);
  });

  it.each(allowed)('allow that %s imports %s', (file, module) => {
    expect(lint(file, module).output).not.toContain('no-restricted-imports');
  });
});
