/** Pages of the console in headless Chromium. A forbidden action of a page fails the test that causes it. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of the browser, or undefined if none is installed. Throws if the console tests are required. `SVC_TEST_CHROMIUM` overrides it. */
export const chromiumPath: string | undefined = [process.env['SVC_TEST_CHROMIUM'] ?? '', ...PLACES].find(
  (path) => path !== '' && existsSync(path),
);
if (chromiumPath === undefined) {
  const message = 'chromium is not installed: the tests of the console in a browser are skipped';
  if (process.env['SVC_TEST_CONSOLE'] === '1') throw new Error(message);
  process.stderr.write(`${message}\n`);
}

/** @param args more arguments of the browser */
export async function startBrowser(args: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('no chromium is installed');
  const { chromium } = await import('playwright-core');
  // The sandbox is unavailable to root and in most containers.
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-dev-shm-usage', ...args] });
}

export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requests of the page, in order. */
  readonly requests: readonly SentRequest[];
  /** Navigates to a route such as `#/data`, without a reload if the page is open. */
  go(route: string): Promise<void>;
  /** Replaces the text of an editor with keyboard input. */
  write(label: string, text: string): Promise<void>;
  /** Presses Tab until the control with that role and name has the focus. @throws Error if it is not reached */
  tabTo(role: 'button' | 'link' | 'textbox' | 'combobox' | 'tab' | 'checkbox' | 'gridcell', name: string | RegExp): Promise<void>;
  /** Resolves when no request is pending and the page has not changed for a while. */
  settle(): Promise<void>;
  /** Violations that axe reports, one per line. */
  axe(): Promise<readonly string[]>;
  /**
   * Closes the page. Throws for violations of the content security policy, errors, requests to other hosts, and secrets in the URL or in
   * storage.
   */
  close(): Promise<void>;
}

export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Stored for the tab, as after a sign-in; null for a visitor. */
  readonly secret?: string | null;
  /** URL of the console, with a trailing slash. */
  readonly path?: string;
  /** Initial route in the console, such as `#/data`. */
  readonly route?: string;
}

const MOST_TABS = 120;
const QUIET_MS = 200;
/** For pages that never settle. Other pages settle long before, unless the processors are busy. */
const AWAY_GRACE_MS = 20_000;
/** Evaluated on an element in the browser, whose types these tests do not have. Works in any root. */
export const HAS_FOCUS = new Function('element', 'return element === element.getRootNode().activeElement') as (element: unknown) => boolean;

export const SECRET = 'the-secret-of-the-console-tests';

/** Opens the console of the service at `url`. */
export async function openConsolePage(browser: Browser, url: string, options: PageOptions = {}): Promise<ConsolePage> {
  const { theme = 'light', width = 1280, height = 860, secret = SECRET, path = '/console/', route = '' } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
  const page = await context.newPage();
  // Returns as soon as it happens; the limit is long because the processors may be busy.
  page.setDefaultTimeout(30_000);
  const problems: string[] = [];
  const requests: SentRequest[] = [];
  let underWay = 0;
  page.on('request', () => {
    underWay += 1;
  });
  for (const end of ['requestfinished', 'requestfailed'] as const) {
    // The first parameter is one of two signatures of `on`.
    page.on(end as 'requestfinished', () => {
      underWay -= 1;
    });
  }
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    // The browser logs each rejected request as an error.
    if (message.type() === 'error' && !/^Failed to load resource: .* status of (?:400|401|403|409|500)/.test(text))
      problems.push(`console: ${text} ${message.location().url}`);
  });
  // The service rejects a change that would make the metadata inconsistent; any other such response is a fault.
  const failures: Promise<void>[] = [];
  page.on('response', (response) => {
    if (response.status() < 500) return;
    const checked = response.text().then(
      (text) => {
        if (!text.includes('newly found inconsistent metadata')) problems.push(`${response.status()} of ${response.url()}: ${text}`);
      },
      () => problems.push(`${response.status()} of ${response.url()}`),
    );
    failures.push(checked.then(() => undefined));
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('blob:') && !request.url().startsWith('data:'))
      problems.push(`request to ${request.url()}`);
    requests.push({ url: request.url(), method: request.method(), body: request.postData() ?? '', headers: request.headers() });
  });
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))`,
  );
  if (secret !== null) await page.addInitScript(`sessionStorage.setItem('svc:${path}:secret', ${JSON.stringify(secret)})`);
  await page.goto(`${url}${path}${route}`);
  return {
    page,
    context,
    requests,
    async go(route) {
      await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
    },
    async write(label, text) {
      await page.getByRole('textbox', { name: label, exact: true }).focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(text);
    },
    async tabTo(role, name) {
      const control = page.getByRole(role, { name, exact: typeof name === 'string' }).first();
      await control.waitFor();
      for (let presses = 0; presses < MOST_TABS; presses++) {
        if (await control.evaluate(HAS_FOCUS)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${role} ${String(name)} is not reached by Tab`);
    },
    async settle() {
      const end = Date.now() + AWAY_GRACE_MS;
      for (let before = ''; Date.now() < end; ) {
        const now = (await page.evaluate('location.hash + document.body.innerHTML')) as string;
        if (now === before && underWay === 0) return;
        before = now;
        await page.waitForTimeout(QUIET_MS);
      }
    },
    axe: () => axeViolations(page),
    async close() {
      const seen = (await page.evaluate(`JSON.stringify([location.href, Object.entries(localStorage), history.state])`)) as string;
      if (seen.includes(secret ?? SECRET)) problems.push('a secret is in the URL or in storage');
      for (const { url: asked } of requests) if (asked.includes(secret ?? SECRET)) problems.push('a secret was in the URL of a request');
      await Promise.all(failures);
      await context.close();
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  };
}

/** Violations that axe reports for a page, one per line. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  // Uses the debugger protocol: a script of the page would violate its content security policy.
  await page.evaluate(readFileSync(source, 'utf8'));
  const { violations } = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary.replace(/\s+/g, ' ')}`),
  );
}
