/** Compares the estimated and the actual heap size of operations and plans. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { warmUpSnapshot } from '../../src/app/warm-up/schema.ts';
import { backends } from '../../src/databases/index.ts';
import { compilersOf } from '../../src/pipeline/compilers.ts';
import { type OperationPlan, planOperation } from '../../src/plan/plan.ts';
import { planSize } from '../../src/plan/plan-size.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../../src/schema/role-schemas.ts';
import type { PreparedOperation } from '../../src/graphql-engine/translation.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { sample } from '../support/deep.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const snapshot = warmUpSnapshot(DEFAULT_ROLE_SCHEMAS_OPTIONS);
const compilerOf = compilersOf(backends, { stringifyNumericTypes: false });
const schema = snapshot.roleSchema('admin', 'frontend');
const list = (count: number, item: (n: number) => string): string => Array.from({ length: count }, (_, n) => item(n)).join(' ');

/** Documents that differ in `salt`. */
const DOCUMENTS: Record<string, (salt: number) => readonly [query: string, variables?: JsonObject]> = {
  'many roots': (salt) => [`{ ${list(60, (n) => `a${n}_${salt}: author_by_pk(id: ${n}) { id name books(limit: 3) { id title } }`)} }`],
  'many conditions': (salt) => [
    `{ author(where: {_or: [${list(200, (n) => `{id: {_eq: ${n + salt}}, name: {_like: "x${n}"}}`)}]}) { id } }`,
  ],
  'conditions over relationships': (salt) => [
    `query q${salt} { author(where: {_or: [${list(100, (n) => `{books: {title: {_eq: "${n}"}, author: {name: {_eq: "x"}}}}`)}]}) { id } }`,
  ],
  'many fields': (salt) => [`{ author { ${list(300, (n) => `a${n}_${salt}: name`)} } }`],
  'short tokens': (salt) => [`query q${salt} { author(where: {id: {_in: [${list(2000, () => '1')}]}}) { id } }`],
  'a long text': (salt) => [`{ author(where: {name: {_eq: "${'x'.repeat(50_000)}${salt}"}}) { id } }`],
  'conditions in a variable': (salt) => [
    `query q${salt} ($w: author_bool_exp!) { author(where: $w) { id } }`,
    { w: { _or: Array.from({ length: 100 }, (_, n) => ({ id: { _eq: n }, name: { _like: 'x' } })) } },
  ],
  'many mutations': (salt) => [
    `mutation m${salt} { ${list(60, (n) => `a${n}: update_author(where: {id: {_eq: ${n}}}, _set: {name: "x"}) { affected_rows }`)} }`,
  ],
  'many rows': (salt) => [
    `mutation m${salt} { insert_author(objects: [${list(200, (n) => `{id: ${n}, name: "x${n}"}`)}]) { affected_rows } }`,
  ],
};

function heap(): number {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}

const COUNT = 30;

describe('the memory estimate of an operation and its plan', () => {
  it.each(sample(Object.keys(DOCUMENTS), 4))('is close to the actual size: %s', (name) => {
    const document = DOCUMENTS[name] as (salt: number) => readonly [string, JsonObject?];
    const make = (salt: number): readonly [PreparedOperation, OperationPlan] => {
      const [query, variables = {}] = document(salt);
      // A flat string, as in a request.
      const prepared = schema.prepare(Buffer.from(query).toString(), null);
      return [prepared, planOperation(prepared.translate(prepared.variables(variables)), (source) => compilerOf(snapshot, source))];
    };
    make(0);
    const kept: (readonly [PreparedOperation, OperationPlan])[] = [];
    const before = heap();
    for (let salt = 1; salt <= COUNT; salt++) kept.push(make(salt));
    const measured = (heap() - before) / COUNT;
    const estimated = kept.reduce((sum, [prepared, plan]) => sum + prepared.memory + planSize(plan), 0) / COUNT;
    // Never much more than estimated; less only wastes memory.
    expect(measured / estimated, `${Math.round(measured)} bytes, estimated ${Math.round(estimated)}`).toBeLessThan(1.3);
    expect(measured / estimated, `${Math.round(measured)} bytes, estimated ${Math.round(estimated)}`).toBeGreaterThan(0.3);
  });
});
