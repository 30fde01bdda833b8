import type { Page } from 'playwright-core';

/** A state of a page to take pictures of. */
export interface Scene {
  name: string;
  path: string;
  /** Brings the page into the state that is shown. */
  prepare?(page: Page): Promise<unknown>;
  /** Shows only what is visible without scrolling, such as a dialog. */
  isOverlay?: boolean;
}

/** Presses a button, which opens a dialog. */
export function dialog(name: string, path: string, button: string | RegExp, until?: string): Scene {
  return {
    name,
    path,
    isOverlay: true,
    async prepare(page) {
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await page.locator('[role=dialog], [role=alertdialog]').first().waitFor();
      if (until !== undefined) await page.getByText(until).waitFor();
    },
  };
}

/** Unfolds a part of a page. */
export function unfolded(name: string, path: string, summary: string | RegExp): Scene {
  return {
    name,
    path,
    async prepare(page) {
      await page.locator('main summary', { hasText: summary }).first().click();
      await page.waitForFunction(() => document.querySelector('main .loading') === null);
    },
  };
}
