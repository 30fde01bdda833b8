import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  findBrowser,
  launchBrowser,
  startPageServer,
  type BrowserName,
  type PageServer,
} from '../../support/browser/browser.ts';
import { administer, ask, complaintsOf, done } from '../../support/browser/chat.ts';
import { packReact } from '../../support/browser/packed-react.ts';
import { openLine } from '../../support/servers/line.ts';
import { startAssistantStack, type AssistantStack } from '../../support/sdk-clients/sdk-client-service.ts';
import { patienceMs } from '../../support/patience.ts';

/** The chat of `@docket/react` on a page that is built with the packed package, as another project would. */

const names: BrowserName[] = ['Chromium', 'Firefox'];
const found = names.map((browser) => ({ browser, path: findBrowser(browser) }));
const resources = new AsyncDisposableStack();
let assistant: AssistantStack;
let server: PageServer;

beforeAll(async () => {
  if (found.every(({ path }) => path === null)) return;
  const { folder } = resources.use(await packReact());
  const pages = ['docket-react', 'docket-hook'];
  for (const page of pages) {
    await copyFile(join(import.meta.dirname, `../fixtures/chat-pages/${page}.jsx`), join(folder, `${page}.jsx`));
  }
  server = resources.use(await startPageServer(folder, pages));
  assistant = resources.use(await startAssistantStack());
});

afterAll(() => resources.disposeAsync());

describe.each(found)('in $browser', { tags: 'slow' }, ({ browser: name, path }) => {
  let browser: Browser;
  beforeAll(async () => {
    if (path === null) return undefined;
    browser = await launchBrowser(name, path);
    return () => browser.close();
  });
  beforeEach(({ skip }) => skip(path === null));

  async function openChat(query: Record<string, string> = {}, name = 'docket-react') {
    const { baseUrl, domain, assistantKey } = assistant.service;
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    const complaints = complaintsOf(page);
    await page.goto(server.addressOf(name, { baseUrl, domain, key: assistantKey, ...query }));
    const answer = page.getByRole('article', { name: 'Answer' });
    const questions = page.getByRole('group', { name: 'You asked' });
    return { page, complaints, answer, questions, [Symbol.asyncDispose]: () => page.close() };
  }

  it('shows the same after a reload: text, marks, related topics and the vote', async () => {
    await using chat = await openChat();
    const { page } = chat;
    assistant.model.script({ text: 'Press it 77 times, see [the first lamp](/guides/first-lamp).' });
    await ask(page, 'How do I pair a lamp?');
    await page.locator('p > mark').first().waitFor();
    await page.locator('p', { hasText: 'Related topics' }).waitFor();
    const topics = page.getByRole('list', { name: 'Related topics' }).getByRole('button');
    await topics.first().waitFor();
    const helpful = page.getByRole('button', { name: 'Yes', exact: true });
    await helpful.click();
    await page.locator('button[aria-pressed=true]').waitFor();
    const shown = async () => [
      await page.locator('p > mark').allTextContents(),
      await topics.allTextContents(),
      await helpful.getAttribute('aria-pressed'),
    ];
    const before = await shown();
    expect(before[0]).toContain('77');
    await page.reload();
    await page.getByText('Press it').first().waitFor();
    await expect.poll(shown).toEqual(before);
  });

  it.each(['mouse', 'keyboard'])('sends the text that is selected when the %s goes to the field', async (device) => {
    const { model } = assistant;
    await using chat = await openChat();
    const { page, complaints, answer } = chat;
    const field = page.getByRole('textbox', { name: 'Question' });
    const goToField = () => (device === 'mouse' ? field.click() : field.focus());
    const select = async (text: Locator) => {
      const { x, y, width, height } = (await text.boundingBox())!;
      await page.mouse.move(x + 1, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width - 1, y + height / 2);
      await page.mouse.up();
    };
    const note = page.getByText('About the selected text');
    const lastPrompt = () => JSON.stringify(model.requests.at(-1)!.body.messages);

    await select(page.locator('#text'));
    await goToField();
    await note.waitFor();
    model.script({ text: 'That pairs it.' });
    await ask(page, 'Why?');
    await page.getByText('That pairs it.').first().waitFor();
    await done(page);
    expect(lastPrompt()).toContain('Hold the button for three seconds.');
    expect(await note.count()).toBe(0);

    // a part of the answer is not text of the page
    await select(answer.getByText('That pairs it.'));
    await goToField();
    expect(await note.count()).toBe(0);

    await select(page.locator('#text'));
    await goToField();
    await page.getByRole('button', { name: 'Remove selected text' }).click();
    await note.waitFor({ state: 'detached' });
    await field.blur();
    await goToField();
    model.script({ text: 'Twice a day.' });
    await ask(page, 'How often?');
    await page.getByText('Twice a day.').first().waitFor();
    await done(page);
    expect(lastPrompt()).not.toContain('Hold the button for three seconds.');
    expect(complaints).toEqual([]);
  });

  it('stops an answer, edits its question, and asks it again', async () => {
    const { model } = assistant;
    await using chat = await openChat();
    const { page, complaints, answer, questions } = chat;
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Hold its').waitFor();
    const call = model.requests.at(-1)!;
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await call.closed).toBe('aborted');
    await done(page);
    expect(await answer.textContent()).toContain('Hold its');

    model.script({ text: 'Press it twice.' });
    await page.getByRole('button', { name: 'Edit question' }).click();
    expect(await page.getByRole('textbox', { name: 'Question' }).inputValue()).toBe('How do I pair a lamp?');
    await ask(page, 'How do I reset a lamp?');
    await page.getByText('Press it twice.').first().waitFor();
    await done(page);
    expect(await questions.allTextContents()).toEqual([expect.stringContaining('How do I reset a lamp?')]);
    expect(await answer.count()).toBe(1);

    model.script({ text: 'Press it three times.' });
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByText('Press it three times.').first().waitFor();
    await done(page);
    expect(await questions.allTextContents()).toEqual([expect.stringContaining('How do I reset a lamp?')]);
    expect(await answer.count()).toBe(1);
    const prompt = JSON.stringify(model.requests.at(-1)!.body.messages);
    expect(prompt).toContain('How do I reset a lamp?');
    expect(prompt).not.toContain('Press it twice.');
    expect(complaints).toEqual([]);
  });

  it('resumes an answer after a reload in the middle of it', async () => {
    const { model } = assistant;
    await using chat = await openChat();
    const { page, complaints, answer } = chat;
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'three ', 'seconds.'], stall: 4 });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Hold its').waitFor();
    const calls = model.requests.length;
    await page.reload();
    await page.getByText('Hold its').waitFor();
    model.release();
    await page.getByText('Hold its button for three seconds.').first().waitFor();
    await done(page);
    expect(await answer.count()).toBe(1);
    expect(model.requests).toHaveLength(calls);
    expect(complaints).toEqual([]);
  });

  it('resumes an answer after the component was removed in the middle of it', async () => {
    const { model } = assistant;
    await using chat = await openChat();
    const { page } = chat;
    const showOrHide = page.getByRole('button', { name: 'Show or hide the chat' });
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'three ', 'seconds.'], stall: 4 });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Hold its').waitFor();
    await showOrHide.click();
    model.release();
    expect(await model.requests.at(-1)!.closed).toBe('complete');
    await showOrHide.click();
    await page.getByText('Hold its button for three seconds.').first().waitFor();
    await done(page);
  });

  it('fills its parent', async () => {
    await using chat = await openChat();
    const inside = chat.page.locator('.docket-chat');
    await inside.evaluate(({ parentElement }) => parentElement!.style.setProperty('height', '777px'));
    expect((await inside.boundingBox())!.height).toBe(777);
  });

  it('stops the answer when the conversation is cleared, also on a page that may store nothing', async () => {
    await using chat = await openChat({}, 'docket-hook');
    await chat.page.evaluate(() => Object.defineProperty(globalThis, 'sessionStorage', { value: null }));
    assistant.model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
    await chat.page.getByRole('button', { name: 'Ask' }).click();
    await chat.page.getByText('Hold its').waitFor();
    const stopped = chat.page.waitForRequest((request) => request.method() === 'DELETE');
    await chat.page.getByRole('button', { name: 'Clear' }).click();
    await stopped;
    expect(await chat.page.locator('p').count()).toBe(0);
  });

  it('resumes an answer after its connection broke', async () => {
    const { model, service } = assistant;
    await using line = await openLine(new URL(service.baseUrl));
    await using chat = await openChat({ baseUrl: `http://127.0.0.1:${line.port}` });
    const { page, answer } = chat;
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'three ', 'seconds.'], stall: 4 });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Hold its').waitFor();
    const calls = model.requests.length;
    const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/stream'));
    line.cut();
    await failed;
    const busy = { status: 503, json: { error: 'Try again.' }, headers: { 'Access-Control-Allow-Origin': '*' } };
    const refused = page.waitForResponse((response) => response.status() === 503);
    await page.route('**/stream', (route) => route.fulfill(busy), { times: 1 });
    await refused;
    await page.getByText('Hold its').waitFor();
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
    line.mend();
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    model.release();
    await page.getByText('Hold its button for three seconds.').first().waitFor();
    await done(page);
    expect(await answer.count()).toBe(1);
    expect(model.requests).toHaveLength(calls);
  });

  it('keeps the text of an answer that cannot be resumed, and says so', async () => {
    const { model, service } = assistant;
    await using line = await openLine(new URL(service.baseUrl));
    await using chat = await openChat({ baseUrl: `http://127.0.0.1:${line.port}` });
    const { page } = chat;
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Hold its').waitFor();
    await page.route('**/stream', (route) =>
      route.fulfill({ status: 204, headers: { 'Access-Control-Allow-Origin': '*' } }),
    );
    line.cut();
    await page.getByText('The answer was interrupted. Ask again.').waitFor();
    await page.getByText('Hold its').waitFor();
    model.release();
  });

  it('sends the token of the reader, and shows why one is refused', async () => {
    const { model, service } = assistant;
    const site = `/v1/sites/${service.domain}`;
    const [issuer, secret] = ['https://app.example.com', 'a-secret-that-two-servers-share-0001'];
    await administer(service, 'PATCH', site, { readerTokens: { algorithm: 'HS256', issuer, secret } });
    await using _ = {
      [Symbol.asyncDispose]: () => administer(service, 'PATCH', site, { readerTokens: null }),
    };
    const claims = new SignJWT({ groups: ['staff'] }).setProtectedHeader({ alg: 'HS256' }).setIssuer(issuer);
    const signed = claims.setAudience(service.domain).setIssuedAt().setExpirationTime('5m');
    const readerToken = await signed.sign(Buffer.from(secret));
    await using chat = await openChat({ readerToken });
    const tokens = new Set<string | undefined>();
    chat.page.on('request', (request) => tokens.add(request.headers()['x-reader-token']));
    model.script({ text: 'Press it once.' });
    await ask(chat.page, 'How do I pair a lamp?');
    await chat.page.getByText('Press it once.').first().waitFor();
    await done(chat.page);
    expect([...tokens]).toEqual([readerToken]);
    expect(chat.complaints).toEqual([]);

    await using refused = await openChat({ readerToken: 'forged' });
    await ask(refused.page, 'How do I pair a lamp?');
    expect(await refused.page.getByRole('alert').textContent()).toMatch(/^The X-Reader-Token was refused/);
  });

  it('solves the challenge of a key that requires a proof of work', async () => {
    const { model, service } = assistant;
    const { key } = await administer(service, 'POST', '/v1/keys', { kind: 'assistant', proofOfWork: true });
    await using chat = await openChat({ key });
    const { page } = chat;
    const proofs = new Set<string | undefined>();
    page.on('request', (request) => proofs.add(request.headers()['x-proof-of-work']));
    model.script({ text: 'Press it once.' });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Press it once.').first().waitFor();
    await done(page);
    proofs.delete(undefined);
    expect(proofs.size).toBe(1);
  });
});
