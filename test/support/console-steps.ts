/** What scenarios of the console do again and again. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type ConsolePage, HAS_FOCUS } from './browser.ts';
import { WAIT } from './wait.ts';

/** Expects that axe finds nothing, in the light and in the dark. */
export async function expectAccessible({ page, axe }: ConsolePage): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axe(), `${page.url()} in the ${colorScheme}`).toEqual([]);
  }
}

/** Takes back the last change of that title, by the list of the session's changes: what is told of a change goes after a while. */
export async function undo(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: /^\d+ changes?$/ }).click();
  const changes = page.getByRole('dialog', { name: 'Changes of this session' });
  const button = page.getByRole('button', { name: 'Undo' });
  await changes.getByRole('listitem').filter({ hasText: title, has: button }).first().getByRole('button', { name: 'Undo' }).click();
  await changes.getByRole('button', { name: 'Close' }).click();
  await changes.waitFor({ state: 'detached' });
}

/** Goes to a page by the keys of its chord, such as `gs`. They count together while they follow each other within a second or so. */
export async function chord(page: Page, keys: string, route: string): Promise<void> {
  const press = async (): Promise<unknown> => {
    await page.keyboard.type(keys);
    return page.evaluate(`location.hash.startsWith(${JSON.stringify(route)})`);
  };
  await expect.poll(press, WAIT).toBe(true);
}

/** Opens the list of all places by its keys. What is typed before it has the focus would be typed into the page. */
export async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  const field = page.getByRole('dialog', { name: 'Go to' }).getByRole('combobox');
  await expect.poll(() => field.evaluate(HAS_FOCUS), WAIT).toBe(true);
}

/** Applies what is in review. */
export async function apply(page: Page): Promise<void> {
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Apply/ })
    .click();
}

/**
 * Leaves an editor by Escape and Tab. They count as one only when they come soon after each other, and a list of completions that opens
 * between them takes the first for itself: they are pressed until they did.
 */
export async function leaveEditor(page: Page, name: string): Promise<void> {
  const leave = async (): Promise<boolean> => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    return page.getByRole('textbox', { name, exact: true }).evaluate(HAS_FOCUS);
  };
  await expect.poll(leave, WAIT).toBe(false);
}
