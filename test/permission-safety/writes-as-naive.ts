/** Random mutations of a random world, run by the service and by a naive evaluator. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { SEED } from '../support/deep.ts';
import { Undetermined } from './answer.ts';
import { Choices, numbersOf } from './choices.ts';
import { makeWorld, ROLES } from './make-world.ts';
import { jsonOf, type Request } from './query.ts';
import { ask, someSession } from './session.ts';
import { type Place, setUp } from './set-up.ts';
import type { Data, Database, Row, World } from './world.ts';
import { Refused, writeNaively } from './write-naively.ts';
import { makeMutation, makeWrites, type Mutation, printMutations, returnedColumns, type Writes } from './writes.ts';

export interface WriteCounts {
  asked: number;
  written: number;
  refused: number;
  undetermined: number;
}

/** @param cases number of requests, and of requests per world. @returns the requests; fails if answers or rows differ */
export async function writesAsNaive(
  place: Place,
  database: Database,
  cases: { readonly all: number; readonly perWorld: number },
): Promise<WriteCounts> {
  const counts: WriteCounts = { asked: 0, written: 0, refused: 0, undetermined: 0 };
  for (let seed = SEED; counts.asked < cases.all; seed++) {
    const choices = new Choices(numbersOf(seed, 20_000 + 600 * cases.perWorld));
    const world = makeWorld(choices, 5, database);
    const writes = makeWrites(choices, world);
    await setUp(place, world, writes);
    let { data } = world;
    for (let i = 0; i < cases.perWorld && counts.asked < cases.all; i++) {
      data = await writeOne(place, world, writes, data, choices, counts, `world ${seed}, request ${i}`);
    }
  }
  console.info(`permission safety of writes: ${JSON.stringify(counts)}, seed ${SEED}`);
  return counts;
}

async function writeOne(
  { service }: Place,
  world: World,
  writes: Writes,
  data: Data,
  choices: Choices,
  counts: WriteCounts,
  where: string,
): Promise<Data> {
  const role = choices.pick(ROLES);
  const session = someSession(choices);
  const mutations = Array.from({ length: choices.chance(25) ? 2 : 1 }, () => makeMutation(choices, world, writes, role, data)).filter(
    (mutation) => mutation !== null,
  );
  if (mutations.length === 0) return data;
  let after = data;
  let expected: JsonObject | null = {};
  try {
    for (const [i, mutation] of mutations.entries()) {
      const outcome = writeNaively(world, writes, role, session, after, mutation);
      after = outcome.data;
      expected = { ...expected, [`m${i}`]: answerOf(world, role, mutation, outcome.rows) };
    }
  } catch (error) {
    if (error instanceof Undetermined) {
      counts.undetermined++;
      return data;
    }
    if (!(error instanceof Refused)) throw error;
    after = data;
    expected = null;
  }
  const request = printMutations(world, role, mutations, () => choices.chance(30));
  const text = await ask(service.url, { role, session, request });
  counts.asked++;
  if (expected === null) counts.refused++;
  else if (after !== data) counts.written++;
  const actual = JSON.parse(text) as { readonly data?: JsonObject; readonly errors?: unknown };
  const isSame =
    expected === null ? actual.errors !== undefined : isDeepStrictEqual(sorted(mutations, actual.data), sorted(mutations, expected));
  const shown = (): string =>
    `${JSON.stringify({ role, session, ...request }, null, 1)}\nrules ${JSON.stringify([...(writes.get(role) ?? [])])}`;
  if (!isSame) expect.fail(`${where}: expected ${expected === null ? 'a refusal' : JSON.stringify(expected)}, got ${text}\n${shown()}`);
  const rows = await rowsNow(service.url, world);
  for (const { name, view } of world.tables) {
    if (view !== null) continue;
    const expectedRows = [...(after.get(name) ?? [])].sort((a, b) => (a['id'] as number) - (b['id'] as number)).map(jsonRow);
    if (!isDeepStrictEqual(rows[name], expectedRows))
      expect.fail(
        `${where}: rows of ${name} are ${JSON.stringify(rows[name])}, expected ${JSON.stringify(expectedRows)}\nanswer ${text}\n${shown()}`,
      );
  }
  return after;
}

function answerOf(world: World, role: string, { k, table, ...rest }: Mutation, rows: readonly Row[]): JsonObject | null {
  const columns = returnedColumns(world, role, table);
  const objects = rows.map((row) => Object.fromEntries(columns.map((column) => [column, jsonOf(row[column] ?? null)])));
  if (k !== 'insert' && 'where' in rest && 'key' in rest.where) return objects[0] ?? null;
  return { affected_rows: rows.length, ...(columns.length === 0 ? {} : { returning: objects }) };
}

/** Rows that one statement updates or deletes have no order. */
function sorted(mutations: readonly Mutation[], data: JsonObject | null | undefined): unknown {
  return Object.entries(data ?? {}).map(([alias, answer]) => {
    const returning = (answer as JsonObject | null)?.['returning'];
    if (!Array.isArray(returning) || mutations[Number(alias.slice(1))]?.k === 'insert') return [alias, answer];
    return [alias, (answer as JsonObject)['affected_rows'], returning.map((row) => JSON.stringify(row)).sort()];
  });
}

function jsonRow(row: Row): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, jsonOf(value)]));
}

async function rowsNow(url: string, world: World): Promise<Readonly<Record<string, unknown>>> {
  const fields = world.tables
    .filter(({ view }) => view === null)
    .map(({ name, columns }) => `${name}(order_by: {id: asc}) { ${columns.map((column) => column.name).join(' ')} }`);
  const request: Request = { query: `{ ${fields.join(' ')} }`, variables: {} };
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  return ((await response.json()) as { data: Readonly<Record<string, unknown>> }).data;
}
