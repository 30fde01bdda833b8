import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser, type BrowserName } from '../../support/browser/browser.ts';
import { administer, ask, done } from '../../support/browser/chat.ts';
import { open, visitWidget, type WidgetVisitOptions } from '../../support/browser/widget.ts';
import { startEmbeddingSite, type EmbeddingSite } from '../../support/servers/embedding-site.ts';
import { startAssistantStack, type AssistantStack } from '../../support/sdk-clients/sdk-client-service.ts';

/** Settings and restrictions of the page around a widget. */

const names: BrowserName[] = ['Chromium', 'Firefox'];
const found = names.map((browser) => ({ browser, path: findBrowser(browser) }));
const resources = new AsyncDisposableStack();
let assistant: AssistantStack;
let site: EmbeddingSite;
/** CAPTCHA responses that the provider was asked about. */
const verified: (string | null)[] = [];
const provider = createServer(async (request, response) => {
  verified.push(new URLSearchParams(await text(request)).get('response'));
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}');
});

beforeAll(async () => {
  if (found.every(({ path }) => path === null)) return;
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  resources.defer(() => void provider.close());
  const { port } = provider.address() as AddressInfo;
  assistant = resources.use(
    await startAssistantStack({ DOCKET_CAPTCHA_VERIFY_URL: `http://127.0.0.1:${port}/siteverify` }),
  );
  site = resources.use(await startEmbeddingSite(assistant.service.baseUrl));
});

afterAll(() => resources.disposeAsync());

/** Returns the classes of elements of the widget that are animated. */
function animatedIn(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelector('docket-chat')!.shadowRoot!.querySelectorAll('*')]
      .filter((element) => {
        const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element);
        return animationName !== 'none' || transitionDuration !== '0s' || scrollBehavior !== 'auto';
      })
      .map(({ className }) => className),
  );
}

describe.each(found)('in $browser', { tags: 'slow' }, ({ browser: name, path }) => {
  let browser: Browser;
  beforeAll(async () => {
    if (path === null) return undefined;
    browser = await launchBrowser(name, path);
    return () => browser.close();
  });
  beforeEach(({ skip }) => skip(path === null));

  const visit = (options: WidgetVisitOptions = {}) =>
    visitWidget({ browser, site, service: assistant.service }, options);

  it('asks the last question again, without the answer that it replaces', async () => {
    const { model } = assistant;
    await using visited = await visit();
    const { page, complaints } = visited;
    await open(page);
    model.script({ text: 'Press it once.' });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Press it once.').first().waitFor();
    await done(page);
    model.script({ text: 'Press it twice.' });
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByText('Press it twice.').first().waitFor();
    await done(page);
    expect(await page.getByRole('group', { name: 'You asked' }).allTextContents()).toEqual([
      expect.stringContaining('How do I pair a lamp?'),
    ]);
    expect(await page.getByRole('article', { name: 'Answer' }).allTextContents()).toEqual([
      expect.stringContaining('Press it twice.'),
    ]);
    const prompt = JSON.stringify(model.requests.at(-1)!.body.messages);
    expect(prompt).toContain('How do I pair a lamp?');
    expect(prompt).not.toContain('Press it once.');
    expect(complaints).toEqual([]);
  });

  it.each(['https', 'http'])('copies an answer and its code, as on a page over %s', async (protocol) => {
    await using visited = await visit();
    const { page, complaints } = visited;
    if (name === 'Chromium') await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    if (protocol === 'http') {
      await page.evaluate(() => {
        Object.defineProperty(globalThis, 'isSecureContext', { value: false });
        Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined });
      });
    }
    await open(page);
    const answer = `Hold its **button** ${protocol}:\n\n\`\`\`sh\nlamp pair ${protocol}\n\`\`\``;
    assistant.model.script({ text: answer });
    await ask(page, 'How do I pair a lamp?');
    await done(page);
    const field = page.getByRole('textbox', { name: 'Question' });
    for (const [label, copied] of [
      ['Copy answer', answer],
      ['Copy code', `lamp pair ${protocol}`],
    ] as const) {
      await page.getByRole('button', { name: label }).click();
      const button = page.getByRole('button', { name: 'Copied' });
      await button.waitFor();
      expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
      await field.fill('');
      await page.keyboard.press('ControlOrMeta+v');
      await expect.poll(async () => (await field.inputValue()).trim()).toBe(copied);
    }
    expect(await page.getByRole('textbox').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('keeps the keys that a reader types from the shortcuts of the page', async () => {
    await using visited = await visit();
    const { page, complaints } = visited;
    await page.evaluate(() => {
      const isField = ({ target }: Event) => target instanceof HTMLTextAreaElement;
      for (const type of ['keydown', 'keypress', 'keyup'])
        document.addEventListener(type, (event) => {
          if (isField(event)) return;
          event.preventDefault();
          document.title = 'The next page';
        });
    });
    await open(page);
    await page.getByRole('textbox', { name: 'Question' }).pressSequentially('npm run src/index');
    expect(await page.getByRole('textbox', { name: 'Question' }).inputValue()).toBe('npm run src/index');
    expect(await page.title()).not.toBe('The next page');
    expect(complaints).toEqual([]);
  });

  it('stays where it is on a page that replaces its body or moves what is in it', async () => {
    await using visited = await visit();
    const { page, complaints } = visited;
    const launcher = page.locator('.docket-launcher');
    const before = await launcher.boundingBox();
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('body { transform: scale(1) } body > * { display: none !important }');
      document.adoptedStyleSheets.push(sheet);
      document.body.replaceWith(document.createElement('body'));
    });
    expect(await launcher.boundingBox()).toEqual(before);
    await page.evaluate(() => window.Docket!.open());
    await page.getByRole('dialog').waitFor();
    expect(complaints).toEqual([]);
  });

  it('has the colors and the styles of parts that the page sets', async () => {
    await using visited = await visit();
    const { page, complaints } = visited;
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`
        docket-chat { --docket-accent: rgb(11, 110, 95); --docket-background: rgb(250, 240, 230); }
        docket-chat::part(button) { letter-spacing: 3px; }
        docket-chat::part(dialog) { border-top-width: 7px; }`);
      document.adoptedStyleSheets.push(sheet);
    });
    const launcher = page.locator('.docket-launcher');
    const valueOf = (selector: string, property: string) =>
      page.locator(selector).evaluate((element, of) => getComputedStyle(element).getPropertyValue(of), property);
    expect(await valueOf('.docket-launcher', 'background-color')).toBe('rgb(11, 110, 95)');
    expect(await valueOf('.docket-launcher', 'letter-spacing')).toBe('3px');
    await launcher.click();
    await page.getByRole('dialog').waitFor();
    expect(await valueOf('.docket-ask button', 'background-color')).toBe('rgb(11, 110, 95)');
    expect(await valueOf('.docket-chat', 'background-color')).toBe('rgb(250, 240, 230)');
    expect(await valueOf('.docket-dialog', 'border-top-width')).toBe('7px');
    expect(complaints).toEqual([]);
  });

  it.for(['reduce', 'no-preference'] as const)(
    'animates for readers who have not forbidden it: %s',
    async (motion, { skip }) => {
      skip(
        name === 'Firefox' && motion === 'no-preference',
        'it is a setting of Firefox, which tests start with less motion',
      );
      await using visited = await visit({ reducedMotion: motion });
      const { page, complaints } = visited;
      const animated = motion === 'reduce' ? [] : ['docket-dialog'];
      await open(page);
      expect(await animatedIn(page)).toEqual(animated);
      assistant.model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
      await ask(page, 'How do I pair a lamp?');
      await page.getByText('Hold its').waitFor();
      expect(await animatedIn(page)).toEqual(animated);
      assistant.model.release();
      await done(page);
      expect(await animatedIn(page)).toEqual(animated);
      expect(complaints).toEqual([]);
    },
  );

  it('works on a page that allows scripts by a nonce and no style sheets', async () => {
    await using visited = await visit({ policy: 'nonce' });
    const { page, complaints } = visited;
    expect(await page.locator('.docket-launcher').evaluate((button) => getComputedStyle(button).position)).toBe(
      'fixed',
    );
    await open(page);
    assistant.model.script({ text: 'Hold its **button**.\n\n| a | b |\n| - | - |\n| c | d |' });
    await ask(page, 'How do I pair a lamp?');
    await done(page);
    expect(await page.locator('article strong').textContent()).toBe('button');
    await page.getByRole('button', { name: 'Copy answer' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('button', { name: 'Yes', exact: true }).click();
    await page.getByText('Thank you.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('works in a sandbox, without storage and forms', async () => {
    const { model } = assistant;
    await using visited = await visit({ policy: 'sandbox' });
    const { page, complaints } = visited;
    await open(page);
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
    await page.getByRole('textbox', { name: 'Question' }).fill('How do I pair a lamp?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Hold its').waitFor();
    const call = model.requests.at(-1)!;
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await call.closed).toBe('aborted');
    await page.getByRole('button', { name: 'No', exact: true }).click();
    await page.getByRole('checkbox').first().check();
    const form = page.getByRole('form', { name: 'What is wrong?' });
    await form.getByRole('button', { name: 'Send' }).click();
    await form.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it.each([
    ['during a composition', { isComposing: true }],
    ['as Safari sends them after it', { keyCode: 229 }],
  ])('leaves Enter and Escape to an input method, %s', async (_, composing) => {
    await using visited = await visit();
    const { page, complaints } = visited;
    await open(page);
    const field = page.getByRole('textbox', { name: 'Question' });
    await field.fill('ランプ');
    const areLeft = await field.evaluate(
      (element, fields) =>
        ['Enter', 'Escape'].map((key) =>
          element.dispatchEvent(
            new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true, ...fields }),
          ),
        ),
      composing,
    );
    expect(areLeft).toEqual([true, true]);
    expect(complaints).toEqual([]);
  });

  it('is left out of a printed page', async ({ skip }) => {
    skip(name === 'Firefox', 'tests cannot make Firefox print');
    await using visited = await visit();
    const { page } = visited;
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.docket-launcher').isVisible()).toBe(false);
  });

  it('sends the response of the CAPTCHA that the page solves', async () => {
    const { model, service } = assistant;
    const { id, key } = await administer(service, 'POST', '/v1/keys', { kind: 'assistant' });
    await administer(service, 'PATCH', `/v1/keys/${id}`, {
      captcha: { provider: 'turnstile', secret: 'captcha-secret' },
    });
    await using visited = await visit();
    const { page } = visited;
    const solution = `solved in ${name}`;
    await page.evaluate(
      (options) => window.Docket!.init({ ...options, captcha: () => Promise.resolve(options.solution) }),
      { baseUrl: service.baseUrl, site: service.domain, apiKey: key, solution },
    );
    await open(page);
    model.script({ text: 'Press it once.' });
    await ask(page, 'How do I pair a lamp?');
    await page.getByText('Press it once.').first().waitFor();
    await done(page);
    expect(verified.filter((response) => response === solution)).toEqual([solution]);
  });
});
