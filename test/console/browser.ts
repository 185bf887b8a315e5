/** Pages that are watched for what the console must never do. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Watched {
  readonly page: Page;
  /** Errors of the console, refusals by the policy of the page, requests to other hosts. */
  readonly complaints: readonly string[];
}

/** A page of its own, without anything that another one has kept. */
export async function openPage(browser: Browser, url: string): Promise<Watched> {
  // The checks of axe are put into the page, which its policy forbids to everybody else.
  const context = await browser.newContext({ bypassCSP: false, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A refused operation is shown by the console; the browser tells of its status besides.
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(url) && !asked.startsWith('data:') && !asked.startsWith('blob:')) complaints.push(`asked ${asked}`);
  });
  return { page, complaints };
}

/** What axe finds on the page as it is. */
export async function findings(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const run = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await run(AXE);
  const found = await run(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`,
  );
  await session.detach();
  return found as string[];
}

/** Nothing is wrong with the page, in the light and in the dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // Colours that fade are neither the one nor the other.
    await page.evaluate(
      'Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => undefined))).then(() => null)',
    );
    expect(await findings(page), `${page.url()} in the ${colorScheme}`).toEqual([]);
  }
}
