import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { LocalJson } from '../../../local/local-json.ts';
import { patienceMs } from '../patience.ts';
import type { EmbeddingSite, PageOptions } from '../servers/embedding-site.ts';
import { complaintsOf } from './chat.ts';

export interface WidgetVisitOptions extends BrowserContextOptions, PageOptions {
  colorScheme?: 'light' | 'dark';
  /** Attributes of the script tag beside the site and the key. */
  attributes?: Record<string, string>;
}

export interface WidgetVisit extends AsyncDisposable {
  page: Page;
  complaints: string[];
}

/** Visits a page that embeds the widget, and waits for its button. */
export async function visitWidget(
  { browser, site, service }: { browser: Browser; site: EmbeddingSite; service: LocalJson },
  { attributes = {}, direction, policy, colorScheme = 'light', ...options }: WidgetVisitOptions = {},
): Promise<WidgetVisit> {
  const context = await browser.newContext({ reducedMotion: 'reduce', colorScheme, ...options });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  const { domain, assistantKey } = service;
  const all = { 'data-site': domain, 'data-key': assistantKey, ...attributes };
  await page.goto(site.pageOf(all, { direction, policy }));
  await page.getByRole('button', { name: 'Ask the documentation' }).waitFor();
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Opens the chat with the widget's button. */
export async function open(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Ask the documentation' }).click();
  await page.getByRole('dialog', { name: 'Ask the documentation' }).waitFor();
}
