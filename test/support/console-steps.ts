/** Steps that console tests share. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type ConsolePage, HAS_FOCUS } from './browser.ts';
import { WAIT } from './wait.ts';

/** Expects no axe violations in light and dark mode. */
export async function expectAccessible({ page, axe }: ConsolePage): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axe(), `${page.url()}, ${colorScheme} theme`).toEqual([]);
  }
}

/** Reverts the last change with that title through the list of the session's changes, because notifications disappear after a while. */
export async function undo(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: /^\d+ changes?$/ }).click();
  const changes = page.getByRole('dialog', { name: 'Changes in this session' });
  const button = page.getByRole('button', { name: 'Undo' });
  await changes.getByRole('listitem').filter({ hasText: title, has: button }).first().getByRole('button', { name: 'Undo' }).click();
  await changes.getByRole('button', { name: 'Close' }).click();
  await changes.waitFor({ state: 'detached' });
}

/** Opens a page with a key chord such as `gs`. The keys must follow each other within about a second. */
export async function chord(page: Page, keys: string, route: string): Promise<void> {
  const press = async (): Promise<unknown> => {
    await page.keyboard.type(keys);
    return page.evaluate(`location.hash.startsWith(${JSON.stringify(route)})`);
  };
  await expect.poll(press, WAIT).toBe(true);
}

/** Opens the command palette with its shortcut. Keys typed before it has the focus would reach the page. */
export async function openPalette(page: Page): Promise<void> {
  const palette = page.getByRole('dialog', { name: 'Go to' });
  // A page that has just been opened may not listen yet.
  const press = async (): Promise<number> => {
    await page.keyboard.press('Control+k');
    await palette.waitFor({ timeout: 2000 }).catch(() => undefined);
    return palette.count();
  };
  await expect.poll(press, WAIT).toBe(1);
  const field = palette.getByRole('combobox');
  await expect.poll(() => field.evaluate(HAS_FOCUS), WAIT).toBe(true);
}

/** Closes a dialog in which something was entered. */
export async function discardDialog(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog').last();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await dialog.getByRole('button', { name: 'Discard', exact: true }).click();
}

/** Applies the changes in review. */
export async function apply(page: Page): Promise<void> {
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Apply/ })
    .click();
}

/**
 * Leaves an editor with Escape and Tab. The keys count as one only in quick succession, and a completion list that opens in between
 * consumes the first one: they are repeated until they succeed.
 */
export async function leaveEditor(page: Page, name: string): Promise<void> {
  const leave = async (): Promise<boolean> => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    return page.getByRole('textbox', { name, exact: true }).evaluate(HAS_FOCUS);
  };
  await expect.poll(leave, WAIT).toBe(false);
}
