import { describe, expect, it } from 'vitest';
import type { CatalogType } from '../../catalog/catalog.ts';
import { areJoined } from './joins.ts';

const type = (name: string, more: Partial<CatalogType> = {}): CatalogType => ({
  schema: 'pg_catalog',
  name,
  kind: 'base',
  array: false,
  ...more,
});
const both = (one: CatalogType, other: CatalogType): readonly boolean[] => [areJoined(one, other), areJoined(other, one)];

describe('types of join columns', () => {
  it.each([
    ['int4', 'int8'],
    ['int2', 'numeric'],
    ['int4', 'float8'],
    ['float4', 'float8'],
    ['text', 'varchar'],
    ['name', 'text'],
    ['date', 'timestamp'],
    ['inet', 'cidr'],
    ['uuid', 'uuid'],
    ['jsonb', 'jsonb'],
    ['bpchar', 'bpchar'],
  ])('can join %s and %s', (one, other) => {
    expect(both(type(one), type(other))).toEqual([true, true]);
  });

  it.each([
    ['uuid', 'text'],
    ['int8', 'float8'],
    ['numeric', 'float4'],
    ['bpchar', 'text'],
    ['date', 'timestamptz'],
    ['timestamp', 'timestamptz'],
    ['time', 'timetz'],
    ['int4', 'text'],
    ['json', 'json'],
    ['point', 'point'],
  ])('cannot join %s and %s', (one, other) => {
    expect(both(type(one), type(other))).toEqual([false, false]);
  });

  it('can join arrays of the same element type only', () => {
    expect(both(type('int4', { array: true }), type('int4', { array: true }))).toEqual([true, true]);
    expect(both(type('int4', { array: true }), type('int8', { array: true }))).toEqual([false, false]);
    expect(both(type('int4', { array: true }), type('int4'))).toEqual([false, false]);
  });

  it('can join a type that is not built in with itself and its domains only', () => {
    const mood = { schema: 'public', kind: 'enum' } as const;
    expect(both(type('mood', mood), type('mood', { ...mood, domain: { schema: 'public', name: 'good_mood' } }))).toEqual([true, true]);
    expect(both(type('mood', mood), type('text'))).toEqual([false, false]);
    expect(both(type('citext', { schema: 'public' }), type('text'))).toEqual([false, false]);
    expect(both(type('int4', { schema: 'public' }), type('int8'))).toEqual([false, false]);
  });

  it('can join texts with compatible collations only', () => {
    const collated = (id: number, deterministic: boolean): CatalogType => type('text', { collation: { id, deterministic } });
    expect(both(collated(950, true), type('text'))).toEqual([true, true]);
    expect(both(collated(950, true), collated(12345, true))).toEqual([false, false]);
    expect(both(collated(12345, false), collated(12345, false))).toEqual([true, true]);
    expect(both(collated(12345, false), type('text'))).toEqual([false, false]);
  });
});
