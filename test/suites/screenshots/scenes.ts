import type { Page } from 'playwright-core';
import { frameScenes, settingsScenes } from './frame-scenes.ts';
import { dialog, unfolded, type Scene } from './scene.ts';
import type { SampleJobs } from './sample-jobs.ts';

/** Returns a job's address as the page that compares jobs takes it. */
function nameOf(path: string): string {
  return encodeURIComponent(path.replace('/jobs/', ''));
}

/** The pages of an organization that has just been created. */
export function emptyScenes(): Scene[] {
  return [
    {
      name: 'first-run',
      path: '/jobs',
      prepare: (page) => page.getByRole('region', { name: 'First steps' }).waitFor(),
    },
    { name: 'new-job-offline', path: '/new' },
    { name: 'empty-pull-requests', path: '/pulls' },
    { name: 'empty-playground', path: '/playground' },
    { name: 'empty-conversations', path: '/conversations' },
    { name: 'empty-gaps', path: '/gaps' },
    { name: 'empty-operations', path: '/operations' },
    { name: 'empty-webhooks', path: '/settings/webhooks' },
  ];
}

/** The pages with a job that runs a command. */
export function runningScenes(running: string): Scene[] {
  return [
    {
      name: 'running-job',
      path: running,
      async prepare(page) {
        await page.getByRole('log').getByText('check 40 of 40').waitFor();
      },
    },
    { name: 'jobs', path: '/jobs', isOverlay: true },
    dialog('cancel-dialog', running, 'Cancel'),
  ];
}

/** The pages of an organization in daily use. */
export function fullScenes(samples: SampleJobs): Scene[] {
  const { job, pull } = samples;
  return [
    ...jobScenes(samples),
    ...reviewScenes(samples),
    ...siteScenes(),
    ...settingsScenes(),
    ...frameScenes(job, pull),
  ];
}

function jobScenes({ job, ...samples }: SampleJobs): Scene[] {
  return [
    {
      name: 'jobs-selected',
      path: '/jobs',
      isOverlay: true,
      async prepare(page) {
        for (const number of [2, 3]) await page.locator('.row-check input').nth(number).check();
        await page.getByRole('region', { name: 'Selected jobs' }).waitFor();
      },
    },
    { name: 'jobs-failed', path: '/jobs?status=failed', isOverlay: true },
    { name: 'jobs-none', path: '/jobs?q=no+such+words' },
    { name: 'new-job', path: '/new' },
    { name: 'job', path: job },
    { name: 'job-plan', path: samples.plan },
    { name: 'job-question', path: samples.question },
    { name: 'job-wrong-ref', path: samples.refFailed },
    { name: 'job-model-refused', path: samples.modelFailed },
    { name: 'job-cancelled', path: samples.cancelled },
    { name: 'job-incomplete', path: samples.incomplete },
    { name: 'job-unchanged', path: samples.unchanged },
    { name: 'job-fork', path: samples.fork },
    { name: 'job-archived', path: samples.archived },
    { name: 'job-missing', path: `${job.slice(0, job.lastIndexOf('/'))}/job_missing` },
    {
      name: 'job-tool',
      path: job,
      async prepare(page) {
        for (const tool of ['run', 'read']) await page.locator('.tool summary', { hasText: tool }).first().click();
        await page.getByRole('button', { name: 'Show what this step changed' }).first().click();
        await page.locator('.diff').first().waitFor();
      },
    },
    {
      name: 'step',
      path: job,
      isOverlay: true,
      async prepare(page) {
        await page.getByRole('button', { name: 'Inspect step 3' }).first().click();
        await page.getByRole('complementary', { name: 'Step inspector' }).waitFor();
        await page.waitForFunction(() => document.querySelector('aside .loading') === null);
      },
    },
    {
      name: 'step-prompt',
      path: job,
      isOverlay: true,
      async prepare(page) {
        await page.getByRole('button', { name: 'Inspect step 3' }).first().click();
        await page.getByRole('button', { name: 'Show the exact prompt' }).click();
        const message = page.locator('.exact-message').nth(3);
        await message.locator('summary').click();
        await message.evaluate((shown) => shown.scrollIntoView({ block: 'center' }));
      },
    },
    {
      name: 'job-message',
      path: job,
      isOverlay: true,
      async prepare(page) {
        await page.locator('#step-1-3').scrollIntoViewIfNeeded();
        await page.getByLabel('Request a change').fill('Mention the limit of lamps in the guide, too.');
      },
    },
    dialog('fork-dialog', job, 'Fork from step 2'),
    dialog('delete-dialog', job, 'Delete'),
    dialog('reject-dialog', samples.plan, 'Reject'),
    dialog('compare-dialog', job, /^Compare with/),
    { name: 'compare', path: `/compare?left=${nameOf(job)}&right=${nameOf(samples.fork)}` },
  ];
}

function reviewScenes({ job, ...samples }: SampleJobs): Scene[] {
  const changes = async (page: Page) => {
    await page.locator('.diff').first().waitFor();
    await page.getByRole('tab', { name: 'Changes' }).evaluate((tab) => tab.scrollIntoView());
  };
  return [
    { name: 'changes', path: `${job}?tab=changes`, prepare: changes },
    {
      name: 'line-comment',
      path: `${job}?tab=changes`,
      async prepare(page) {
        await changes(page);
        const file = page.getByRole('region', { name: 'docs/guides/groups.md' });
        await file.getByRole('button', { name: 'Comment on line 9', exact: true }).press('Enter');
        await page.getByRole('textbox', { name: 'Comment on line 9' }).fill('Say what happens to a lamp in none.');
        await page.getByRole('button', { name: 'Add comment' }).click();
        await file.getByRole('button', { name: 'Comment on line 14', exact: true }).press('Enter');
      },
    },
    { name: 'pull-requests', path: '/pulls' },
    { name: 'pull-request', path: samples.pull, prepare: (page) => page.getByText('No conflicts with').waitFor() },
    {
      name: 'conflict',
      path: samples.conflict,
      prepare: (page) => page.getByText('Conflicts with main.').waitFor(),
    },
    { name: 'merged', path: samples.merged, prepare: (page) => page.getByText('Merged into main').waitFor() },
    dialog('merge-dialog', samples.pull, 'Merge'),
    dialog('close-dialog', samples.pull, 'Close'),
  ];
}

function siteScenes(): Scene[] {
  return [
    {
      name: 'playground',
      path: '/playground',
      async prepare(page) {
        await page.getByRole('textbox', { name: 'Question' }).fill('How do I run a scene?');
        await page.getByRole('button', { name: 'Ask', exact: true }).click();
        await page.getByText('Did this answer help?').waitFor();
        await page.locator('.docket-answer pre').waitFor();
        await page.locator('.passage').first().waitFor();
      },
    },
    {
      name: 'playground-unanswered',
      path: '/playground',
      async prepare(page) {
        await page.getByText('Reader context').click();
        await page.getByRole('textbox', { name: 'Question' }).fill('Which paint suits the gearbox?');
        await page.getByRole('button', { name: 'Ask', exact: true }).click();
        await page.getByRole('button', { name: 'No', exact: true }).click();
        await page.getByRole('form', { name: 'What is wrong?' }).waitFor();
        await page.locator('.passage').first().waitFor();
      },
    },
    {
      name: 'site-page',
      path: '/playground/page?site=sample&path=guides/scenes',
      prepare: (page) => page.getByRole('heading', { name: 'Run a scene' }).waitFor(),
    },
    { name: 'conversations', path: '/conversations' },
    unfolded('conversation', '/conversations', 'iPhone'),
    { name: 'conversations-none', path: '/conversations?q=no+such+words' },
    { name: 'gaps', path: '/gaps' },
    { name: 'gaps-dismissed', path: '/gaps?state=dismissed' },
    { name: 'analytics', path: '/analytics' },
    { name: 'evaluations', path: '/evaluations' },
    {
      name: 'evaluation',
      path: '/evaluations',
      async prepare(page) {
        await page.getByRole('link', { name: 'First week' }).click();
        await page.getByRole('heading', { name: 'First week: completed' }).waitFor();
      },
    },
    { name: 'operations', path: '/operations' },
  ];
}
