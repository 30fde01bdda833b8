import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { runTestGit } from '../git-repository.ts';
import type { TestStack } from '../stack/stack.ts';
import { patienceMs } from '../patience.ts';

export interface DashboardVisit extends AsyncDisposable {
  context: BrowserContext;
  page: Page;
  /**
   * Errors of the page: violations of the security policy, thrown and logged errors, and read requests that the API
   * refused as invalid.
   */
  complaints: string[];
}

export interface VisitOptions {
  colorScheme?: 'light' | 'dark';
  width?: number;
  /** Whether the pointer is a finger, as on a phone. */
  hasTouch?: boolean;
  /** Admin key to sign in with, instead of that of the stack. */
  key?: string;
}

/** Folder for screenshots that a person can review. */
export const screenshotFolder = resolve(import.meta.dirname, '../../../test-results/dashboard');

/** Signs in. */
export async function visitDashboard(
  browser: Browser,
  stack: Pick<TestStack, 'localJson'>,
  { colorScheme = 'light', width = 1280, hasTouch = false, key = stack.localJson.adminKey }: VisitOptions = {},
): Promise<DashboardVisit> {
  const context = await browser.newContext({ colorScheme, hasTouch, viewport: { width, height: 860 } });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // the browser logs a failed resource before the sign-in and while the API is down
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  page.on('response', (response) => {
    if (response.status() === 400 && response.request().method() === 'GET')
      complaints.push(`400 for ${response.url()}`);
  });
  const open = new Set<string>();
  page.on('request', (request) => open.add(request.url()));
  page.on('response', (response) => response.ok() && open.delete(response.url()));
  await page.goto(stack.localJson.dashboardUrl);
  await page
    .getByLabel('Admin key')
    .fill(key)
    .catch(async (cause: unknown) => {
      const text = await page.locator('body').innerText();
      const missing = `without a good answer: ${[...open].join(', ')}`;
      throw new Error(`No sign-in at ${page.url()}: "${text}", ${missing}`, { cause });
    });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  return { context, page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Starts a job with the form and returns its id; the browser is then on the job's page. */
export async function startJob(page: Page, prompt: string): Promise<string> {
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByLabel('What should change?').fill(prompt);
  await page.getByRole('button', { name: 'Start job' }).click();
  await page.waitForURL(/\/jobs\/prj_\w+\/job_\w+/);
  return /job_\w+/.exec(page.url())![0];
}

/** Resolves when the job's page shows that the job has ended with this status. */
export function untilStatus(page: Page, status: 'completed' | 'failed' | 'cancelled'): Promise<void> {
  return page.locator('.page-head .badge', { hasText: status }).waitFor();
}

/** Requests the merge on the page of a pull request. */
export async function mergePull(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Merge', exact: true }).click();
  await page.getByRole('button', { name: 'Merge into main' }).click();
}

export async function takeScreenshot(page: Page, name: string): Promise<void> {
  await mkdir(screenshotFolder, { recursive: true });
  await page.screenshot({ path: join(screenshotFolder, `${name}.png`) });
}

interface AxeViolation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** Returns the violations of WCAG 2.2 A and AA that axe rates as serious or worse. */
export async function seriousProblems(page: Page): Promise<string[]> {
  const violations = await violationsOf(page);
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(describeViolation);
}

/** Returns the findings of axe for WCAG 2.2 A and AA. */
export async function problemsFor(page: Page): Promise<string[]> {
  return (await violationsOf(page)).map(describeViolation);
}

function describeViolation({ id, nodes }: AxeViolation): string {
  return `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`;
}

async function violationsOf(page: Page): Promise<AxeViolation[]> {
  const script = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  // sticky elements cover parts of controls, different ones after each scroll, and axe takes those for small targets
  await using _ = await withStyle(page, '.follow-up, .review-bar, .step-jump { position: static !important }');
  // through the DevTools protocol, to which the page's security policy does not apply
  await page.evaluate(await readFile(script, 'utf8'));
  return page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const found = await (globalThis as any).axe.run(document, { runOnly: { type: 'tag', values: tags } });
    return found.violations as AxeViolation[];
  });
}

/** Adds a style sheet to the page, past its security policy, until it is disposed of. */
async function withStyle(page: Page, css: string): Promise<AsyncDisposable> {
  const sheet = await page.evaluateHandle((text) => {
    const added = new CSSStyleSheet();
    added.replaceSync(text);
    document.adoptedStyleSheets.push(added);
    return added;
  }, css);
  return {
    [Symbol.asyncDispose]: async () => {
      await sheet.evaluate((added) => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== added);
      });
    },
  };
}

/** Asserts that axe finds nothing serious, and leaves a screenshot that a person can review. */
export async function checkLooks(page: Page, name: string): Promise<void> {
  const problems = await seriousProblems(page);
  if (problems.length > 0) throw new Error(`${name}: ${problems.join('\n')}`);
  await takeScreenshot(page, name);
}

/** Pushes a commit to main of the sample repository, as another person would. */
export async function commitOnMain({ home }: Pick<TestStack, 'home'>, path: string, content: string): Promise<void> {
  const clone = join(home, 'clone-of-theirs');
  const inClone = (...args: string[]) => runTestGit(args, { cwd: clone });
  await runTestGit(['clone', '--quiet', join(home, 'repositories/lamp.git'), clone], { cwd: home });
  await writeFile(join(clone, path), content);
  await inClone('add', path);
  await inClone('commit', '--quiet', '-m', 'Theirs');
  await inClone('push', '--quiet', 'origin', 'HEAD:main');
  await rm(clone, { recursive: true });
}
