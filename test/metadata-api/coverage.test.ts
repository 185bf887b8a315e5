/** Every operation exists or says what it is: it succeeds once and refuses twice, over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backends } from '../../src/databases/index.ts';
import { describeOperations } from '../../src/metadata-api/administration.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { BASE, SCHEMA } from './operation-cases/base.ts';
import { type Case, PREFIXED, UNPREFIXED } from './operation-cases/cases.ts';
import { SPECIFIED } from './operation-cases/specified.ts';

/** Of the one kind of database that there is, and its other spelling. */
const PREFIXES = ['pg', 'postgres'];
/** Not in the table of operations: they are how operations are put together. */
const BULKS = ['bulk', 'bulk_keep_going', 'bulk_atomic'];

const described = describeOperations(backends);
const changes = new Map(described.map((operation) => [operation.type, operation.changes]));
const cases: readonly (readonly [name: string, each: Case])[] = [
  ...PREFIXES.flatMap((prefix) => Object.entries(PREFIXED).map(([name, each]) => [`${prefix}_${name}`, each] as const)),
  ...Object.entries(UNPREFIXED),
];
const typeOf = (name: string): string => name.split(':')[0] ?? name;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ INFER_FUNCTION_PERMISSIONS: 'false' });
  await service.sql(SCHEMA);
});
afterAll(() => service.stop());

const post = (body: JsonObject): Promise<Answer> => service.send('/v1/metadata', { method: 'POST', body: JSON.stringify(body) });
const request = (name: string, args: Json, each: Case, extra: JsonObject = {}): Promise<Answer> =>
  post({ type: typeOf(name), args, ...(each.version === undefined ? {} : { version: each.version }), ...extra });
const stored = async (): Promise<{ version: number; metadata: string }> => {
  const { resource_version, metadata } = (await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject;
  return { version: Number(resource_version), metadata: JSON.stringify(metadata) };
};

describe('of the specified operations', () => {
  const existing = new Set([...changes.keys(), ...BULKS]);

  it('each exists or waits for something', () => {
    expect(SPECIFIED.filter(({ type, waitsFor }) => existing.has(type) !== (waitsFor === undefined))).toEqual([]);
    expect(new Set(SPECIFIED.map(({ type }) => type)).size).toBe(SPECIFIED.length);
  });

  it.each(SPECIFIED.filter(({ waitsFor }) => waitsFor !== undefined))('$type waits for $waitsFor', async ({ type }) => {
    const answer = await post({ type, args: {} });
    expect(answer.json, answer.text).toMatchObject({ code: 'not-supported', path: '$.args' });
    expect(answer.status).toBe(400);
  });
});

it('every operation has a case', () => {
  const named = described.map(({ type, version }) => (version === 1 ? type : `${type}:${version}`));
  expect(cases.map(([name]) => name).sort()).toEqual([...named, ...BULKS].sort());
});

describe.each(cases)('%s', (name, each) => {
  const start = async (): Promise<void> => {
    await service.metadata('replace_metadata', { metadata: each.from ?? BASE, allow_inconsistent_metadata: true }, { version: 2 });
  };

  it('succeeds', async () => {
    await start();
    const before = await stored();
    const answer = await request(name, each.args, each);
    expect(answer.status, answer.text).toBe(200);
    const after = await stored();
    const changed = (changes.get(typeOf(name)) ?? 'metadata') === 'metadata';
    expect(after.version).toBe(before.version + (changed ? 1 : 0));
    if (!changed || each.keepsMetadata === true) expect(after.metadata).toBe(before.metadata);
    else expect(after.metadata).not.toBe(before.metadata);
  });

  it('refuses, and changes nothing', async () => {
    await start();
    const before = await stored();
    for (const { args, code, path, extra } of each.fails) {
      const answer = await request(name, args, each, extra);
      expect(answer.json, answer.text).toMatchObject({ code, path });
      expect(answer.status).toBe(code === 'conflict' ? 409 : code === 'unexpected' ? answer.status : 400);
    }
    expect(await stored()).toEqual(before);
  });
});
