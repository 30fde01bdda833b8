import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser, type BrowserName } from '../../support/browser/browser.ts';
import { administer, ask, done } from '../../support/browser/chat.ts';
import { problemsFor, takeScreenshot } from '../../support/browser/dashboard.ts';
import { open, visitWidget, type WidgetVisitOptions } from '../../support/browser/widget.ts';
import { startEmbeddingSite, type EmbeddingSite } from '../../support/servers/embedding-site.ts';
import { startAssistantStack, type AssistantStack } from '../../support/sdk-clients/sdk-client-service.ts';
import { patienceMs } from '../../support/patience.ts';

const names: BrowserName[] = ['Chromium', 'Firefox'];
const found = names.map((browser) => ({ browser, path: findBrowser(browser) }));
const resources = new AsyncDisposableStack();
const shared = {} as {
  assistant: AssistantStack;
  site: EmbeddingSite;
  browserFor: (colorScheme: 'light' | 'dark') => Browser;
};

beforeAll(async () => {
  if (found.every(({ path }) => path === null)) return;
  shared.assistant = resources.use(await startAssistantStack());
  shared.site = resources.use(await startEmbeddingSite(shared.assistant.service.baseUrl));
});

afterAll(() => resources.disposeAsync());

const visit = (options: WidgetVisitOptions = {}) =>
  visitWidget(
    {
      browser: shared.browserFor(options.colorScheme ?? 'light'),
      site: shared.site,
      service: shared.assistant.service,
    },
    options,
  );
const pairing = 'Hold its **button**, see [the first lamp](/guides/first-lamp).';

describe.each(found)('in $browser', { tags: 'slow' }, ({ browser, path }) => {
  beforeAll(async () => {
    if (path === null) return;
    const browsers = {
      light: await launchBrowser(browser, path, 'light'),
      dark: await launchBrowser(browser, path, 'dark'),
    };
    shared.browserFor = (colorScheme) => browsers[colorScheme];
    return async () => {
      await Promise.all([browsers.light.close(), browsers.dark.close()]);
    };
  });
  beforeEach(({ skip }) => skip(path === null));

  it('streams an answer with sources, rates it, edits the question and asks again', async () => {
    const { model } = shared.assistant;
    await using visited = await visit({ attributes: { 'data-questions': 'How do I pair a lamp?|Another question' } });
    const { page, complaints } = visited;
    await open(page);
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', `ever. ${pairing}`], stall: 4 });
    await page.getByRole('button', { name: 'How do I pair a lamp?' }).click();
    await page.getByText('Hold its').waitFor();
    model.release();
    await done(page);
    const answer = page.getByRole('article', { name: 'Answer' });
    expect(await answer.locator('strong').textContent()).toBe('button');
    const source = answer.getByRole('list', { name: 'Sources' }).getByRole('link', { name: /first lamp/ });
    await expect.poll(() => source.getAttribute('href')).toContain(':~:text=');
    expect(new URL((await source.getAttribute('href'))!).origin).toBe(new URL(page.url()).origin);
    const cited = answer.getByRole('link', { name: 'Source of this sentence' });
    await expect.poll(() => cited.first().getAttribute('href')).toMatch(/\/guides\/first-lamp#.*:~:text=/);
    await expect
      .poll(() => page.getByRole('status').allTextContents())
      .toContainEqual(expect.stringMatching(/^Answer: Hold its button for ever/));
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain('/guides/scenes');

    await page.getByRole('button', { name: 'Yes', exact: true }).click();
    await page.getByText('Thank you.').waitFor();

    model.script({ text: 'Press it twice.' });
    await page.getByRole('button', { name: 'Edit question' }).click();
    await ask(page, 'How do I reset a lamp?');
    await page.getByText('Press it twice.').first().waitFor();
    await done(page);
    expect(await page.getByRole('group', { name: 'You asked' }).allTextContents()).toEqual([
      expect.stringContaining('How do I reset a lamp?'),
    ]);
    expect(await answer.count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('offers the questions of the site, marks what an answer states without support, and names related topics', async () => {
    const { model, service } = shared.assistant;
    const starterQuestions = ['How do I pair a lamp?'];
    await administer(service, 'PATCH', `/v1/sites/${service.domain}`, { starterQuestions });
    await using visited = await visit();
    const { page, complaints } = visited;
    await open(page);
    model.script({ text: 'Press it 77 times, see [the first lamp](/guides/first-lamp).' });
    await page.getByRole('list', { name: 'Suggested questions' }).getByRole('button').click();
    await done(page);
    expect(await page.locator('p > mark').allTextContents()).toEqual(['77', 'Marked: not found in the sources']);
    const topics = page.getByRole('list', { name: 'Related topics' }).getByRole('button');
    const topic = (await topics.first().textContent())!;
    model.script({ text: 'Read on.' });
    await topics.first().click();
    await page.getByText('Read on.').first().waitFor();
    await done(page);
    expect((await page.getByRole('group', { name: 'You asked' }).allTextContents()).at(-1)).toContain(topic);
    expect(complaints).toEqual([]);
    await page.reload();
    await open(page);
    await expect.poll(() => page.locator('p > mark').count()).toBe(2);
  });

  it('solves the challenge of a key that requires a proof of work', async () => {
    const { model, service } = shared.assistant;
    const { key } = await administer(service, 'POST', '/v1/keys', { kind: 'assistant', proofOfWork: true });
    await using visited = await visit({ attributes: { 'data-key': key } });
    const { page } = visited;
    const proofs: (string | undefined)[] = [];
    page.on('request', (request) => proofs.push(request.headers()['x-proof-of-work']));
    await open(page);
    model.script({ text: 'Press it once.' });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Press it once.').first().waitFor();
    await done(page);
    const solved = new Set(proofs.filter((proof) => proof !== undefined));
    expect([proofs[0], solved.size]).toEqual([undefined, 1]);
  });

  it('resumes an answer after a reload in the middle of it', async () => {
    const { model } = shared.assistant;
    await using visited = await visit();
    const { page, complaints } = visited;
    await open(page);
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'three ', 'seconds.'], stall: 4 });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Hold its').waitFor();
    const calls = model.requests.length;
    await page.reload();
    await page.getByRole('dialog').waitFor();
    await page.getByText('Hold its').waitFor();
    model.release();
    await page.getByText('Hold its button for three seconds.').first().waitFor();
    await done(page);
    expect(await page.getByRole('article', { name: 'Answer' }).count()).toBe(1);
    expect(model.requests).toHaveLength(calls);
    expect(complaints).toEqual([]);
  });

  it('shows why a question was not answered, and how to ask again, below a long question', async () => {
    await using visited = await visit();
    const { page } = visited;
    await open(page);
    await page.route('**/message', (route) => route.abort());
    await ask(page, 'How do I pair a lamp? '.repeat(60));
    await done(page);
    const list = page.getByRole('region', { name: 'Conversation' });
    const hidden = () =>
      list.evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    await expect.poll(hidden).toBeLessThan(2);
  });

  it('works with the keyboard alone, keeps focus inside and gives it back', async () => {
    const { model } = shared.assistant;
    await using visited = await visit({ attributes: { 'data-hotkey': 'alt+k' } });
    const { page, complaints } = visited;
    await page.getByRole('link', { name: 'A link' }).focus();
    await page.keyboard.press('Alt+k');
    const question = page.getByRole('textbox', { name: 'Question' });
    await expect.poll(() => isFocused(question)).toBe(true);
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
    await page.keyboard.type('How do I pair a lamp?');
    await page.keyboard.press('Enter');
    await page.getByText('Hold its').waitFor();
    const call = model.requests.at(-1)!;
    // the button after the question stops the answer
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await done(page);
    expect(await call.closed).toBe('aborted');

    const seen = new Set<string>();
    for (let presses = 0; presses < 15; presses += 1) {
      await page.keyboard.press('Tab');
      seen.add(
        await page.evaluate(() => {
          const focused = document.activeElement?.shadowRoot?.activeElement;
          return focused?.getAttribute('aria-label') ?? focused?.textContent ?? 'outside';
        }),
      );
    }
    expect([...seen]).toEqual(expect.arrayContaining(['Close', 'Ask again', 'Question', 'Ask']));
    expect([...seen]).not.toContain('outside');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => isFocused(page.getByRole('link', { name: 'A link' }))).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('sends the selected text, and opens with a question of the page', async () => {
    const { model } = shared.assistant;
    await using visited = await visit();
    const { page, complaints } = visited;
    await page.locator('#text').selectText();
    await open(page);
    await page.getByText('About the selected text').waitFor();
    model.script({ text: 'That pairs it.' });
    await ask(page, 'Why?');
    await page.getByText('That pairs it.').first().waitFor();
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain('Hold the button for three seconds.');
    await done(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    model.script({ text: 'Twice a day.' });
    await page.evaluate(() => window.Docket!.open({ question: 'How often?' }));
    await page.getByText('Twice a day.').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it.each<[string, WidgetVisitOptions]>([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['dark-attribute', { colorScheme: 'light', attributes: { 'data-theme': 'dark' } }],
    ['mobile', { viewport: { width: 390, height: 700 } }],
    ['rtl', { direction: 'rtl' }],
  ])('has no accessibility violation, %s', async (name, options) => {
    const { model } = shared.assistant;
    await using visited = await visit(options);
    const { page, complaints } = visited;
    expect(await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(name === 'dark');
    expect(await problemsFor(page)).toEqual([]);
    await open(page);
    expect(await problemsFor(page)).toEqual([]);
    model.script({ text: `${pairing}\n\n| a | b |\n| - | - |\n| c | d |\n\n\`\`\`sh\nlamp pair\n\`\`\`` });
    await ask(page, 'How do I pair a lamp?');
    await done(page);
    await page.getByRole('button', { name: 'No', exact: true }).click();
    await page.getByRole('textbox', { name: 'What is missing or wrong?' }).waitFor();
    expect(await problemsFor(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(
      0,
    );
    expect(complaints).toEqual([]);
    // after the check of complaints: in Firefox, a screenshot adds a style, which the policy of the page refuses
    await takeScreenshot(page, `widget-${browser}-${name}`);
  });

  it('can be closed by touch at a zoom of 400 percent', async () => {
    await using visited = await visit({ viewport: { width: 320, height: 256 } });
    const { page, complaints } = visited;
    await open(page);
    shared.assistant.model.script({ text: 'Hold its button.' });
    await ask(page, 'How do I pair a lamp?');
    await done(page);
    for (const label of ['New conversation', 'Close']) {
      const { x, width } = (await page.getByRole('button', { name: label }).boundingBox())!;
      expect(x).toBeGreaterThan(0);
      expect(x + width).toBeLessThan(320);
    }
    expect(complaints).toEqual([]);
  });

  it('is served as one cacheable file with a version', async () => {
    const address = `${shared.assistant.service.baseUrl}/widget.js`;
    const first = await fetch(address, { headers: { origin: 'https://docs.example' } });
    expect(await first.text()).not.toBe('');
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=/);
    const again = await fetch(address, {
      headers: { 'if-none-match': first.headers.get('etag')!, 'cache-control': 'max-age=0' },
    });
    expect(again.status).toBe(304);
  });

  it('shows itself on the demo page that npm start prints', async () => {
    const { stack, model } = shared.assistant;
    const address = /Widget demo\s+(\S+)/.exec(stack.output())![1]!;
    await using context = await shared.browserFor('light').newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    await page.goto(address);
    await open(page);
    model.script({ text: pairing });
    await page.getByRole('button', { name: 'What can you help me with?' }).click();
    await done(page);
  });
});

function isFocused(locator: { evaluate(run: (element: any) => boolean): Promise<boolean> }): Promise<boolean> {
  return locator.evaluate((element) => (element.getRootNode() as Document).activeElement === element);
}
