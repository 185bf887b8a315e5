// Measures how soon the console is usable and how fast it responds, on 1,451 tables with permissions of 20 roles, at full speed and with the
// CPU of the browser slowed down four times. Each round starts with an empty browser. Prints medians, with the maximum in brackets.
//
//   node bench/console.mjs [--rounds 5] [--tables 1451] [--roles 20] [--database-url postgres://…] [--json]
//
// Needs chromium (or SVC_TEST_CHROMIUM) and the built service. Values beyond their budget are marked; the exit code only shows whether all
// was measured, because times depend on the machine.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { metadata, schema, sql } from './large-schema.mjs';
import { administer, atEnd, databaseServer, makeDatabase, median, post, run, startService } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    tables: { type: 'string', default: '1451' },
    roles: { type: 'string', default: '20' },
    'database-url': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const PORT = 18_473;
const PLACES = [process.env.SVC_TEST_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Budgets in ms, at full speed and slowed down. A click has one budget for both. */
const USABLE = [500, 1000];
const CLICK = [100, 100];
const TASK = [200, 200];
const NODES = 3000;

/** Runs before the page: records when selectors first match, long tasks, and the time from an input to the next change. */
const WATCH = `(() => {
  const seen = {};
  const selectors = { usable: '.sidebar .nav-link', table: 'nav[aria-label="Tables"] .tree-row a[href*="."]', consistent: '.topbar .badge-ok' };
  const look = () => {
    for (const [name, selector] of Object.entries(selectors))
      if (seen[name] === undefined && document.querySelector(selector) !== null) seen[name] = performance.now();
    if (Object.keys(selectors).some((name) => seen[name] === undefined)) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true });
  let started;
  let answered;
  const begin = (event) => { if (started === 0) started = event.timeStamp; };
  for (const type of ['pointerdown', 'keydown']) addEventListener(type, begin, true);
  new MutationObserver(() => {
    if (started > 0 && answered === undefined) {
      answered = null;
      requestAnimationFrame(() => setTimeout(() => { answered = performance.now() - started; }));
    }
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  globalThis.watched = {
    seen,
    tasks,
    arm() { started = 0; answered = undefined; },
    answer: () => answered ?? null,
  };
})()`;

/** Steps of a visit in order: name and action. */
const CLICKS = [
  ['filter the tables: a letter', async (page) => page.getByRole('searchbox', { name: 'Filter tables' }).press('7')],
  ['open a table', async (page) => page.locator('nav[aria-label="Tables"] .tree-row a[href*="."]').nth(3).click()],
  ['structure', async (page) => page.getByRole('tab', { name: 'Structure' }).click()],
  ['permissions', async (page) => page.getByRole('tab', { name: 'Permissions' }).click()],
  ['the source', async (page) => page.locator('nav[aria-label="Tables"] .tree-source a').first().click()],
  ['permissions of all tables', async (page) => page.getByRole('tab', { name: 'Permissions' }).click()],
  ['palette', async (page) => page.keyboard.press('Control+k')],
  ['palette: a letter', async (page) => page.keyboard.press('7')],
  ['palette: close', async (page) => page.keyboard.press('Escape')],
  ['explorer', async (page) => page.getByRole('link', { name: 'Explorer', exact: true }).click()],
  ['settings', async (page) => page.getByRole('link', { name: 'Settings', exact: true }).click()],
  ['roles', async (page) => page.getByRole('tab', { name: 'Roles' }).click()],
  ['home', async (page) => page.getByRole('link', { name: 'Home', exact: true }).click()],
];

/** Polls a condition, because the page's content policy forbids waiting in the page. @returns its value @throws after 20 s */
async function until(page, expression, what = expression) {
  for (let asked = 0; asked < 400; asked++) {
    const value = await page.evaluate(expression);
    if (value) return value;
    await page.waitForTimeout(50);
  }
  throw new Error(`timeout: ${what}`);
}

async function visit(browser, url, rate) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  try {
    const page = await context.newPage();
    await page.addInitScript(WATCH);
    const slow = await context.newCDPSession(page);
    await slow.send('Emulation.setCPUThrottlingRate', { rate });
    let requests = 0;
    page.on('request', () => requests++);
    await page.goto(`${url}/console/#/data`);
    await until(page, 'watched.seen.table !== undefined && watched.seen.consistent !== undefined');
    const usable = await page.evaluate('Math.max(watched.seen.table, watched.seen.consistent)');
    const first = { requests, nodes: await page.evaluate('document.querySelectorAll("*").length') };
    let nodes = first.nodes;
    const clicks = {};
    for (const [name, deed] of CLICKS) {
      await page.waitForTimeout(300);
      await page.evaluate('watched.arm()');
      await deed(page);
      clicks[name] = await until(page, 'watched.answer()', name);
      await page.waitForTimeout(400);
      nodes = Math.max(nodes, await page.evaluate('document.querySelectorAll("*").length'));
    }
    return { usable, clicks, task: await page.evaluate('Math.max(0, ...watched.tasks)'), nodes, requests: first.requests };
  } finally {
    await context.close();
  }
}

await run(async () => {
  const executablePath = PLACES.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) throw new Error('no chromium is installed');
  const server = await databaseServer(options['database-url']);
  const databaseUrl = await makeDatabase(server, 'bench_console');
  await administer(databaseUrl, [sql(Number(options.tables))]);
  await startService({ port: PORT, databaseUrl, env: { SVC_GRAPHQL_ENABLE_CONSOLE: 'true' } });
  const url = `http://127.0.0.1:${PORT}`;
  await post(`${url}/v1/metadata`, JSON.stringify(metadata(Number(options.tables), Number(options.roles))));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  atEnd(() => browser.close());
  await visit(browser, url, 1);
  const visits = [[], []];
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [index, rate] of [1, 4].entries()) visits[index].push(await visit(browser, url, rate));
  }
  const rows = [
    ['usable', ({ usable }) => usable, USABLE],
    ...CLICKS.map(([name]) => [`click: ${name}`, ({ clicks }) => clicks[name], CLICK]),
    ['longest task', ({ task }) => task, TASK],
  ].map(([name, of, budgets]) => ({
    name,
    figures: visits.map((list) => ({ median: median(list.map(of)), worst: Math.max(...list.map(of)) })),
    budgets,
  }));
  const counts = {
    requests: Math.max(...visits.flat().map(({ requests }) => requests)),
    nodes: Math.max(...visits.flat().map(({ nodes }) => nodes)),
  };
  if (options.json) {
    console.log(JSON.stringify({ tables: Number(options.tables), schema, rows, counts }));
    return;
  }
  const shown = ({ median: middle, worst }, budget) =>
    `${middle.toFixed(0)} (${worst.toFixed(0)})${middle > budget ? ` BEYOND ${budget}` : ''}`;
  console.log('| ms | as it is | slowed four times | budget |\n|---|--:|--:|--:|');
  for (const { name, figures, budgets } of rows)
    console.log(
      `| ${name} | ${figures.map((each, index) => shown(each, budgets[index])).join(' | ')} | ${[...new Set(budgets)].join(', ')} |`,
    );
  console.log(
    `requests until it is usable: ${counts.requests}; most nodes of a page: ${counts.nodes}${counts.nodes > NODES ? ` BEYOND ${NODES}` : ''}`,
  );
  const beyond = rows.filter(({ figures, budgets }) => figures.some(({ median: middle }, index) => middle > budgets[index]));
  console.log(`beyond their budgets: ${beyond.length === 0 ? 'none' : beyond.map(({ name }) => name).join(', ')}`);
});
