import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { answerOf, createApi, type Api } from '../../../cli/http/api.ts';
import { checkLooks, mergePull, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, ownDashboardStack, type DashboardOfFile } from '../../support/browser/dashboard-of-file.ts';
import {
  createHostedProject,
  startHostedForge,
  withoutMergeGrant,
  type HostedForge,
} from '../../support/forges/hosted-forge.ts';
import type { TestStack } from '../../support/stack/stack.ts';
import { hasOpenssl } from '../../support/servers/test-authority.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';

interface Shared extends DashboardOfFile<TestStack> {
  forge: HostedForge;
  model: ScriptedModelServer;
}

const shared = ownDashboardStack(async (resources) => {
  const forge = resources.use(await startHostedForge());
  const model = resources.use(await startScriptedModelServer());
  Object.assign(shared, { forge, model });
  return {
    ...forge.env,
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_SELF_REVIEW: 'off',
  };
}) as Shared;

const writes = (path: string) => [
  { toolCalls: [{ name: 'write', input: { path, content: '# Paint\n' } }] },
  { toolCalls: [{ name: 'finish', input: { title: `Write ${path}`, summary: 'Written.' } }] },
];

function apiOf(): Api {
  const { baseUrl, adminKey } = shared.stack.localJson;
  return createApi({ baseUrl, key: adminKey });
}

/** Runs a job of a new project on the forge, and shows its pull request. Returns the project and the fake's record. */
async function showPull(page: Page, name: string) {
  const api = apiOf();
  const projectId = await createHostedProject(shared.forge, { api, model: 'compatible/writer', name });
  shared.model.script(...writes('paint.md'));
  const params = { path: { projectId } };
  const { id } = await answerOf(
    api.POST('/v2/agent/{projectId}/job', { params, body: { prompt: 'Describe the paint' } }),
  );
  await page.goto(`${shared.stack.localJson.baseUrl}/jobs/${projectId}/${id}`);
  await untilStatus(page, 'completed');
  await page.getByRole('link', { name: 'View pull request' }).click();
  await page.getByRole('status').getByText('No conflicts with main').waitFor();
  return { projectId, pull: shared.forge.github.pullRequests(`acme/${name}`)[0]! };
}

/** Reloads the page with a new check, which otherwise runs every 30 seconds. */
async function checkAgain(page: Page): Promise<void> {
  await shared.pool.query('update pull_requests set mergeability = null');
  await page.reload();
}

describe.runIf(chromiumPath !== null && hasOpenssl)('a pull request on GitHub', () => {
  it('says what blocks it and what to press, and is merged', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    const { pull } = await showPull(page, 'lamp');
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const onGithub = page.getByRole('link', { name: 'Open on GitHub', exact: true });
    const agent = button('Ask the agent to resolve');
    await checkLooks(page, 'hosted-open');
    expect(await agent.count()).toBe(0);

    pull.blocked = 'rules';
    await checkAgain(page);
    await page.getByText('Open it on GitHub to approve it, or to see what is missing.').waitFor();
    expect(await onGithub.getAttribute('href')).toBe(`${shared.forge.github.origin}/acme/lamp/pull/1`);
    expect(await button('Merge').isDisabled()).toBe(true);
    expect(await agent.count()).toBe(0);
    await checkLooks(page, 'hosted-rules');

    pull.blocked = null;
    await button('Check again').click();
    await page.getByRole('status').getByText('No conflicts with main').waitFor();

    pull.blocked = 'conflict';
    await checkAgain(page);
    await page.getByText('Conflicts with main.').waitFor();
    expect(await onGithub.count()).toBe(0);
    await checkLooks(page, 'hosted-conflict');
    shared.model.script(...writes('hinges.md'));
    await agent.click();
    await page.getByRole('region', { name: 'Turn 2' }).getByText('bring the change up to date with main').waitFor();
    await untilStatus(page, 'completed');

    pull.blocked = null;
    await page.getByRole('link', { name: 'View pull request' }).click();
    await page.waitForURL(/\/pulls\//);
    await checkAgain(page);
    await page.getByRole('status').getByText('No conflicts with main').waitFor();
    await mergePull(page);
    await page.getByRole('status').getByText('Merged into main').waitFor();
    expect(pull.mergedAt).not.toBe(null);
    await checkLooks(page, 'hosted-merged');
    expect(shared.forge.github.violations).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it("is not merged with the worker's credential without a grant, until one is given", { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark' });
    const { page } = visit;
    const { projectId, pull } = await showPull(page, 'desk');
    const grants = await withoutMergeGrant(shared.forge, { api: apiOf(), pool: shared.pool, projectId });
    await checkAgain(page);
    await page.getByText('Docket lacks permission to merge.').waitFor();
    await page.getByRole('link', { name: 'Open on GitHub', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Ask the agent to resolve' }).count()).toBe(0);
    await checkLooks(page, 'hosted-access');
    await grants.give();
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('status').getByText('No conflicts with main').waitFor();
    await mergePull(page);
    await page.getByRole('status').getByText('Merged into main').waitFor();
    expect(pull.mergedAt).not.toBe(null);
    expect(visit.complaints).toEqual([]);
  });
});
