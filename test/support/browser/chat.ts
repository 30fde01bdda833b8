import type { Page } from 'playwright-core';
import type { LocalJson } from '../../../local/local-json.ts';

/** Asks a question in the chat that a page shows. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Question' }).fill(question);
  await page.keyboard.press('Enter');
}

/** Resolves when the chat has an answer and none is in progress. */
export const done = (page: Page): Promise<void> => page.getByRole('button', { name: 'Ask again' }).waitFor();

/** Returns errors of the page, also what its security policy refuses, as they come. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}

/** Sends a request of an administrator and returns the body of the response. */
export async function administer(
  { baseUrl, adminKey }: LocalJson,
  method: 'POST' | 'PATCH',
  path: string,
  json: object,
): Promise<any> {
  const headers = { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${baseUrl}${path}`, { method, headers, body: JSON.stringify(json) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
