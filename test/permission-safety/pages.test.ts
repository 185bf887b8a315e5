/** Pages of Relay's connections before and after changes of unseen data: no byte may change, cursors and page info included. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { Choices, numbersOf } from './choices.ts';
import { editUnseen } from './edit-unseen.ts';
import { makeRoots } from './make-query.ts';
import { ALL_ROLES, makeWorld } from './make-world.ts';
import { print, type Request, type Root } from './query.ts';
import { someSession } from './session.ts';
import { fill, setUp } from './set-up.ts';
import { type Session, tableOf, type World } from './world.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(5_000, 40));
const ROLES = cases(12, 2);
const CONNECTIONS = cases(20, 6);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4' });
});
afterAll(async () => {
  await service?.stop();
});

type ListRoot = Extract<Root, { readonly k: 'rows' | 'found' }>;

/** Ids show the primary key, so its other columns must be those that the role sees. */
function isList(world: World, root: Root): root is ListRoot {
  return (root.k === 'rows' || root.k === 'found') && tableOf(world, root.table).primaryKey?.length === 1;
}

/** Makes the list of a request a connection. @param page its further arguments */
function connectionOf({ query, variables }: Request, { alias, table, k }: ListRoot, page: readonly string[]): Request {
  const name = `${alias}: ${k === 'found' ? 'find_' : ''}${table}`;
  const start = query.indexOf(name) + name.length;
  const end = query[start] === '(' ? endOf(query, start) : start;
  const args = [query.slice(start + 1, end - 1), ...page].filter((part) => part !== '').join(', ');
  const fields = query.slice(end, query.lastIndexOf('}')).trim();
  const selection = `{ edges { cursor node { node: id ${fields.slice(1)} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;
  return { query: `${query.slice(0, start)}_connection${args === '' ? '' : `(${args})`} ${selection} }`, variables };
}

/** The place behind the parenthesis that closes the one at `start`. */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (const match of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[()]/g)) {
    if (match[0] === '(') depth += 1;
    if (match[0] === ')') depth -= 1;
    if (depth === 0) return start + match.index + 1;
  }
  return start;
}

async function ask(role: string, session: Session, request: Request): Promise<string> {
  const headers: Record<string, string> = { 'x-svc-role': role };
  for (const [name, value] of Object.entries(session)) headers[`x-svc-${name}`] = value;
  const { text } = await service.send('/v1/relay', { method: 'POST', headers, body: JSON.stringify(request) });
  return text;
}

/** The connection as a whole, and pages of it. */
async function pagesOf(choices: Choices, whole: string, make: (page: readonly string[]) => Request): Promise<readonly Request[]> {
  const { data } = JSON.parse(whole) as { data?: Readonly<Record<string, JsonObject>> };
  const [page] = Object.values(data ?? {});
  const cursors = ((page?.['edges'] ?? []) as readonly JsonObject[]).map(({ cursor }) => cursor as Json);
  const sizes = Array.from({ length: 3 }, () => `${choices.pick(['first', 'last'])}: ${choices.int(4)}`);
  return sizes.map((size) => {
    const from = cursors.length === 0 ? [] : [`${choices.pick(['after', 'before'])}: ${JSON.stringify(choices.pick(cursors))}`];
    return make([size, ...from]);
  });
}

/** @returns the requests of a role, and whether they failed */
async function compare(choices: Choices, world: World, seed: number): Promise<{ readonly asked: number; readonly failed: number }> {
  const role = choices.pick(ALL_ROLES);
  const session = someSession(choices);
  const changed = editUnseen(choices, world, role, session, 25);
  if (changed === world.data) return { asked: 0, failed: 0 };
  await fill({ service }, world, world.data);
  const requests: Request[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const root = makeRoots(choices, { world, role, total: true, failing: choices.chance(40) })?.find((each) => isList(world, each));
    if (root === undefined || !isList(world, root)) continue;
    const list = print(world, [{ ...root, args: { ...root.args, limit: null, offset: null } }], () => choices.chance(30));
    const make = (page: readonly string[]): Request => connectionOf(list, root, page);
    requests.push(make([]), ...(await pagesOf(choices, await ask(role, session, make([])), make)));
  }
  const before: string[] = [];
  for (const request of requests) before.push(await ask(role, session, request));
  await fill({ service }, world, changed);
  for (const [i, request] of requests.entries()) {
    expect(await ask(role, session, request), JSON.stringify({ seed, role, session, request })).toBe(before[i]);
  }
  return { asked: requests.length, failed: before.filter((text) => text.startsWith('{"errors"')).length };
}

it(
  `answers ${CASES} random pages identically after changes of unseen data (seed ${SEED})`,
  async () => {
    let asked = 0;
    let failed = 0;
    for (let seed = SEED; asked < CASES; seed++) {
      const choices = new Choices(numbersOf(seed, 400_000));
      const world = makeWorld(choices, 7, 'pg');
      await setUp({ service }, world);
      for (let i = 0; i < ROLES; i++) {
        const counts = await compare(choices, world, seed);
        asked += counts.asked;
        failed += counts.failed;
      }
    }
    console.info(`pages: ${JSON.stringify({ asked, failed })}, seed ${SEED}`);
    expect(failed).toBeLessThan((DEEP ? 0.6 : 0.9) * asked);
  },
  Math.max(600_000, CASES * 60),
);
