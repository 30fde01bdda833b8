import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser, startPageServer, type PageServer } from '../support/browser/browser.ts';
import { startAssistantStack, type AssistantStack } from '../support/sdk-clients/sdk-client-service.ts';
import { patienceMs } from '../support/patience.ts';

const pages = ['ai-4', 'ai-6', 'ai-7'];
const chromiumPath = findBrowser('Chromium');

const resources = new AsyncDisposableStack();
let assistant: AssistantStack;
let server: PageServer;
let browser: Browser;

beforeAll(async () => {
  if (chromiumPath === null) return;
  server = resources.use(await startPageServer(join(import.meta.dirname, 'fixtures/chat-pages'), pages));
  browser = await launchBrowser('Chromium', chromiumPath);
  resources.defer(() => browser.close());
  assistant = resources.use(await startAssistantStack());
});

afterAll(() => resources.disposeAsync());

async function openChat(name: string): Promise<{ page: Page } & AsyncDisposable> {
  const { baseUrl, domain, assistantKey } = assistant.service;
  const page = await browser.newPage();
  page.setDefaultTimeout(patienceMs);
  await page.goto(server.addressOf(name, { baseUrl, domain, key: assistantKey }));
  return { page, [Symbol.asyncDispose]: () => page.close() };
}

async function ask(page: Page, question: string): Promise<void> {
  await page.locator('input[name=question]').fill(question);
  await page.locator('button[name=ask]').click();
}

/** Returns the page's text once its last request has finished. */
async function whenStatus(page: Page, status: 'ready' | 'error') {
  await page.locator(`main[data-status=${status}]`).waitFor();
  return {
    articles: await page.locator('article > p').allTextContents(),
    links: await page.locator('article').last().locator('a').allTextContents(),
    error: await page.locator('output[name=error]').textContent(),
    thread: await page.locator('output[name=thread]').textContent(),
  };
}

describe.runIf(chromiumPath !== null).each(pages)('useChat of %s on a page of another origin', (name) => {
  it('asks two questions on one thread and shows text and sources', async () => {
    await using chat = await openChat(name);
    const { page } = chat;
    const { model } = assistant;
    model.script({ text: 'Run lamp pair, see [the first lamp](/guides/first-lamp).' });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Run lamp pair').waitFor();
    const first = await whenStatus(page, 'ready');
    expect(first).toMatchObject({ links: ['Connect your first lamp'], error: '' });
    expect(first.thread).toMatch(/^thr_/);

    model.script({ text: 'Run lamp schedule add, see [Schedules](/guides/schedules).' });
    await ask(page, 'How do I run a scene in the evening?');
    await page.getByText('Run lamp schedule add').waitFor();
    const second = await whenStatus(page, 'ready');
    expect(second).toMatchObject({ links: ['Schedules'], error: '', thread: first.thread });
    expect(second.articles).toEqual([
      'How do I pair a lamp?',
      expect.stringContaining('Run lamp pair'),
      'How do I run a scene in the evening?',
      expect.stringContaining('Run lamp schedule add'),
    ]);
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain('Run lamp pair');
  });

  it('shows why a key is refused, and continues with the right one', async () => {
    await using chat = await openChat(name);
    const { page } = chat;
    await page.locator('input[name=key]').fill('svc_dsc_wrong');
    await ask(page, 'How do I pair a lamp?');
    const refused = await whenStatus(page, 'error');
    expect(refused.error).toMatch(/key/);
    expect(refused.articles).toEqual(['How do I pair a lamp?']);

    assistant.model.script({ text: 'Hold its button.' });
    await page.locator('input[name=key]').fill(assistant.service.assistantKey);
    await ask(page, 'How do I pair it?');
    await page.getByText('Hold its button.').waitFor();
    expect(await whenStatus(page, 'ready')).toMatchObject({ error: '' });
  });

  it('ends the model call when the reader stops it, and takes another question', async () => {
    await using chat = await openChat(name);
    const { page } = chat;
    const { model } = assistant;
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Hold its').waitFor();
    const call = model.requests.at(-1)!;
    await page.locator('button[name=stop]').click();
    expect(await call.closed).toBe('aborted');
    expect(await whenStatus(page, 'ready')).toMatchObject({ error: '' });

    model.script({ text: 'Run lamp pair.' });
    await ask(page, 'And then?');
    await page.getByText('Run lamp pair.').waitFor();
    const { articles, error } = await whenStatus(page, 'ready');
    expect(error).toBe('');
    expect(articles).toHaveLength(4);
  });
});
