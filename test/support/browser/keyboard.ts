import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** More than the elements of any page. */
const maxTabs = 400;

/**
 * Returns the problem with the focus: there is none, it is out of view, or it is not visible. Null if it is fine.
 * Elements that are only for screen readers, such as the input of a check box, show it on the element around them.
 */
async function problemOfFocus(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body) return null;
    const name = `${focused.outerHTML.slice(0, 160)}`;
    const hasOutline = (element: Element) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0;
    };
    const around = [focused, focused.parentElement, focused.closest('label'), focused.closest('.row')];
    const candidates = around.flatMap((element) => (element === null ? [] : [element, ...element.children]));
    const shown = candidates.filter(hasOutline);
    if (shown.length === 0) return `The focus is not visible: ${name}`;
    const isInView = shown.some((element) => {
      const { top, bottom, left, right, width, height } = element.getBoundingClientRect();
      return width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
    });
    return isInView ? null : `The focus is out of view: ${name}`;
  });
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

/** Presses Tab until the element has the focus. Throws if the focus is not visible on the way, or never gets there. */
export async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses <= maxTabs; presses += 1) {
    if (await isFocused(target)) return;
    await page.keyboard.press(key);
    const problem = await problemOfFocus(page);
    if (problem !== null) throw new Error(problem);
  }
  throw new Error(`${key} never reaches ${target.toString()}.`);
}

/**
 * Presses J until a row of the list of jobs has the focus, because the list is shown a moment before it listens to
 * keys.
 */
export async function focusRow(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      await page.keyboard.press('j');
      return page.evaluate(() => document.activeElement?.className);
    })
    .toContain('row-title');
}

/** Reaches an element with Tab and presses Enter. */
export async function enter(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

/**
 * Walks through a page with Tab, once around. Returns the number of elements that had the focus. Throws if the focus is
 * not visible on one of them, or if it never comes back to the first.
 */
export async function walkAround(page: Page): Promise<number> {
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    const window = globalThis as { firstFocused?: Element | null };
    window.firstFocused = undefined as never;
  });
  for (let presses = 1; presses <= maxTabs; presses += 1) {
    await page.keyboard.press('Tab');
    const problem = await problemOfFocus(page);
    if (problem !== null) throw new Error(problem);
    const isAround = await page.evaluate(() => {
      const window = globalThis as { firstFocused?: Element | null };
      const focused = document.activeElement;
      if (focused === null || focused === document.body) return false;
      window.firstFocused ??= focused;
      return focused === window.firstFocused;
    });
    if (isAround && presses > 1) return presses - 1;
  }
  throw new Error('Tab does not come back to the beginning of the page.');
}
