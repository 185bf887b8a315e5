/** Arbitrary parts of metadata documents. */
import fc from 'fast-check';
import type { QualifiedName } from '../../src/catalog/catalog.ts';
import { type Json, parseJson } from '../../src/util/json.ts';

/** Omits `undefined` values, as decoders do. */
export function sparse<T extends object>(
  model: { readonly [K in Exclude<keyof T, 'unknownKeys'>]-?: fc.Arbitrary<T[K]> },
  required: readonly (keyof T)[],
): fc.Arbitrary<T> {
  return fc.record(model as unknown as { [K in keyof T]: fc.Arbitrary<T[K]> }, {
    requiredKeys: required as (keyof T)[],
  }) as fc.Arbitrary<T>;
}

/** Any valid text of a quoted identifier. */
export const name = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }).filter((text) => !text.includes('\0'));
export const graphqlName = fc.stringMatching(/^[_A-Za-z][_0-9A-Za-z]{0,6}$/);
export const comment = fc.string({ maxLength: 6 });
export const json: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }).map((value) => parseJson(JSON.stringify(value)));
export const jsonObject = fc
  .dictionary(name, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  .map((value) => parseJson(JSON.stringify(value)));
export const qualifiedName: fc.Arbitrary<QualifiedName> = fc.record({ schema: fc.oneof(fc.constant('public'), name), name });
export const names = fc.uniqueArray(name, { maxLength: 3 });
export const someNames = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });

export function mapBy<T>(item: fc.Arbitrary<T>, key: (item: T) => string, maxLength = 2): fc.Arbitrary<ReadonlyMap<string, T>> {
  return fc.uniqueArray(item, { maxLength, selector: key }).map((items) => new Map(items.map((one) => [key(one), one])));
}
