/** A tree of tables in one database, and spread over two and a GraphQL server. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { printJson, type Json, type JsonObject } from '../../src/util/json.ts';
import { DEEP, SEED } from '../support/deep.ts';
import { runSql, testDatabase, type TestDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Location of a table: one of two databases, or a GraphQL server, which is another instance of the service under test. */
type Side = 'left' | 'right' | 'away';
type Mapping = Readonly<Record<string, string>>;
/** Kind of the sources on PostgreSQL databases; Citus compiles differently. */
type Kind = 'postgres' | 'dbc';
type Kinds = Readonly<Record<'whole' | 'left' | 'right', Kind>>;

export const TABLES = ['t0', 't1', 't2', 't3', 't4'];
const DDL = TABLES.map(
  (name) =>
    `create table ${name} (id int primary key, code text collate "C" unique, n int, m bigint, s text collate "C", c varchar(3) collate "C", v int);
     create index on ${name} (n); create index on ${name} (s);`,
).join('\n');
/** From columns of the parent to columns of the child, and from the child to a key of the parent. */
const TO_CHILDREN: readonly Mapping[] = [
  { id: 'n' },
  { id: 'm' },
  { n: 'n' },
  { m: 'n' },
  { code: 's' },
  { s: 'c' },
  { c: 's' },
  { n: 'n', s: 's' },
];
const TO_PARENT: readonly Mapping[] = [{ n: 'id' }, { m: 'id' }, { s: 'code' }, { c: 'code' }];
/** No request goes to a server for a null key, so that lists and aggregates are null: its keys never are. */
const TO_CHILDREN_AWAY: readonly Mapping[] = [{ id: 'n' }, { id: 'm' }, { id: 'v' }];
const TO_PARENT_AWAY: readonly Mapping[] = [{ n: 'id' }, { id: 'id' }];
const TEXTS = ['a', 'b', '', ' ', 'abc', 'abcd', '"', '\\', '"]', '\\"', '[",', 'é\n', '😀', 'null'];

export interface Table {
  readonly name: string;
  readonly side: Side;
  /** Index of an earlier table; null for the root. */
  readonly parent: number | null;
  readonly toChildren: Mapping;
  readonly toParent: Mapping;
  readonly rows: readonly JsonObject[];
}

const number = fc.option(fc.integer({ min: 0, max: 6 }), { freq: 5 });
const text = fc.option(fc.constantFrom(...TEXTS), { freq: 5 });
const row = fc.record({ code: text, n: number, m: number, s: text, c: text, v: fc.option(fc.integer({ min: -20, max: 20 })) });

const table = fc.record({
  side: fc.constantFrom<Side>('left', 'right', 'away'),
  parent: fc.nat(),
  toChildren: fc.nat(),
  toParent: fc.nat(),
  rows: fc.array(row, { maxLength: 14 }),
});

/** In more than one place, or nothing is compared. */
const spread = fc
  .array(table, { minLength: 2, maxLength: TABLES.length })
  .filter(([first, ...others]) => others.some(({ side }) => side !== first?.side));

const world = spread.map((tables) =>
  tables.map(({ parent, side, rows, toChildren, toParent }, index): Table => {
    const codes = new Set<string>();
    const above = index === 0 ? null : parent % index;
    const sideAbove = above === null ? undefined : tables[above]?.side;
    const pick = (near: readonly Mapping[], away: readonly Mapping[], target: Side | undefined, choice: number): Mapping => {
      const among = target === 'away' && side !== sideAbove ? away : near;
      return among[choice % among.length] as Mapping;
    };
    return {
      side,
      name: TABLES[index] as string,
      parent: above,
      toChildren: pick(TO_CHILDREN, TO_CHILDREN_AWAY, side, toChildren),
      toParent: pick(TO_PARENT, TO_PARENT_AWAY, sideAbove, toParent),
      rows: rows.map(({ code, c, ...cells }, id) => {
        const isNew = code !== null && !codes.has(code);
        if (isNew) codes.add(code);
        return { ...cells, id, code: isNew ? code : null, c: c === null ? null : c.slice(0, 3) };
      }),
    };
  }),
);

/** A database of another kind in place of the database `right`. */
export interface Other {
  readonly kind: string;
  readonly configuration: JsonObject;
  /** The name of a table in metadata. */
  named(table: string): Json;
  /** Schema of a table, apart from its name, so that its root fields have that name only. */
  readonly naming: (table: string) => JsonObject;
  /** Replaces the rows of these tables only. */
  fill(tables: readonly Table[]): Promise<void>;
}

let service: TestService;
let server: TestService;
let databases: Readonly<Record<Side | 'whole', TestDatabase>>;

export async function startScattered(): Promise<void> {
  databases = { left: await testDatabase(), right: await testDatabase(), whole: await testDatabase(), away: await testDatabase() };
  for (const { url } of Object.values(databases)) await runSql(url, DDL);
  [service, server] = await Promise.all([startTestService({ PG_CONNECTIONS: '3' }), startTestService({ PG_CONNECTIONS: '3' })]);
}

export async function stopScattered(): Promise<void> {
  await service?.stop();
  await server?.stop();
  for (const database of Object.values(databases ?? {})) await database.drop();
}

const OBJECT_FIELDS = { object: '_by_pk', array: '' };

/** The last argument maps a relationship to the table of a server. */
function toServer(name: string, field: string, mapping: Mapping, byKey: boolean): JsonObject {
  const pairs = Object.entries(mapping);
  const condition = Object.fromEntries(pairs.map(([own, theirs]) => [theirs, byKey ? `$${own}` : { _eq: `$${own}` }]));
  const remote_field = { [field]: { arguments: byKey ? condition : { where: condition } } };
  return { name, definition: { to_remote_schema: { remote_schema: 'away', lhs_fields: Object.keys(mapping), remote_field } } };
}

function toSource(name: string, relationship_type: string, source: string, table: Json, field_mapping: Mapping): JsonObject {
  return { name, definition: { to_source: { relationship_type, source, table, field_mapping } } };
}

/** The relationships of a table to other locations. */
function joinsOf(own: Table, tables: readonly Table[], right: Other | null): JsonObject[] {
  const joins: JsonObject[] = [];
  const add = (name: string, kind: 'object' | 'array', { side, name: target }: Table, mapping: Mapping): void => {
    if (side === own.side) return;
    if (side !== 'away') joins.push(toSource(name, kind, side, side === 'right' && right !== null ? right.named(target) : target, mapping));
    else {
      joins.push(toServer(name, `${target}${OBJECT_FIELDS[kind]}`, mapping, kind === 'object'));
      if (kind === 'array') joins.push(toServer(`${name}_aggregate`, `${target}_aggregate`, mapping, false));
    }
  };
  const parent = own.parent === null ? undefined : tables[own.parent];
  if (parent !== undefined) add('up', 'object', parent, own.toParent);
  for (const child of tables) {
    if (child.parent !== null && tables[child.parent] === own) add(`to_${child.name}`, 'array', child, child.toChildren);
  }
  return joins;
}

/** @param place location of all tables, or only of existing ones @param right the replacement for that database */
function sourceMetadata(place: Side | 'whole', tables: readonly Table[], right: Other | null = null, kind: Kind = 'postgres'): JsonObject {
  const other = place === 'right' ? right : null;
  const named = (name: string): Json => other?.named(name) ?? name;
  const isHere = (each: Table): boolean => place === 'whole' || each.side === place;
  const near = (name: string, target: Table, column_mapping: Mapping): JsonObject[] =>
    isHere(target) ? [{ name, using: { manual_configuration: { remote_table: named(target.name), column_mapping } } }] : [];
  const entries = tables.filter(isHere).map((own): JsonObject => {
    const parent = own.parent === null ? undefined : tables[own.parent];
    const children = tables.filter((each) => each.parent !== null && tables[each.parent] === own);
    const permission: JsonObject = {
      columns: '*',
      filter: { _or: [{ v: { _gte: 0 } }, { v: { _is_null: true } }] },
      limit: 4,
      allow_aggregations: true,
    };
    return {
      table: named(own.name),
      ...other?.naming(own.name),
      object_relationships: parent === undefined ? [] : near('up', parent, own.toParent),
      array_relationships: children.flatMap((child) => near(`to_${child.name}`, child, child.toChildren)),
      remote_relationships: place === 'whole' || place === 'away' ? [] : joinsOf(own, tables, right),
      select_permissions: [{ role: 'user', permission }],
    };
  });
  const prefix = place === 'away' ? '' : `${place}_`;
  return {
    name: place === 'away' ? 'default' : place,
    kind: other?.kind ?? kind,
    configuration: other?.configuration ?? {
      connection_info: { database_url: databases[place].url, pool_settings: { max_connections: 3 } },
    },
    customization: { root_fields: { prefix }, type_names: { prefix } },
    tables: entries,
  };
}

function remoteSchema(tables: readonly Table[], right: Other | null): JsonObject {
  const relationships = tables
    .filter(({ side }) => side === 'away')
    .map((own): JsonObject => ({ type_name: own.name, relationships: joinsOf(own, tables, right) }));
  return {
    name: 'away',
    definition: {
      url: `${server.url}/v1/graphql`,
      forward_client_headers: true,
      customization: { type_names: { prefix: 'away_' }, field_names: [{ parent_type: 'query_root', prefix: 'away_' }] },
    },
    remote_relationships: relationships.filter(({ relationships: joins }) => (joins as readonly Json[]).length > 0),
  };
}

/** @param other the replacement for database `right` */
async function setUp(tables: readonly Table[], other: Other | null, kinds: Kinds): Promise<void> {
  const fill = (own: readonly Table[]): string =>
    [
      `truncate ${TABLES.join(', ')};`,
      ...own.map(({ name, rows }) => {
        const json = printJson(rows as Json).replaceAll("'", "''");
        return `insert into ${name} select * from json_populate_recordset(null::${name}, '${json}');`;
      }),
    ].join('\n');
  const sides: readonly Side[] = ['left', 'right', 'away'];
  await runSql(databases.whole.url, fill(tables));
  for (const side of sides) await runSql(databases[side].url, fill(tables.filter((each) => each.side === side)));
  await other?.fill(tables.filter(({ side }) => side === 'right'));
  await server.metadata('replace_metadata', { metadata: { version: 3, sources: [sourceMetadata('away', tables)] } });
  // An unchanged remote schema is not introspected again.
  await service.metadata('replace_metadata', { metadata: { version: 3, sources: [] } });
  const sources = (['whole', 'left', 'right'] as const).map((place) => sourceMetadata(place, tables, other, kinds[place]));
  const remote_schemas = tables.some(({ side }) => side === 'away') ? [remoteSchema(tables, other)] : [];
  await service.metadata('replace_metadata', { metadata: { version: 3, sources, remote_schemas } });
}

/** Choices of a query; the same numbers make the same query in both worlds. */
class Query {
  readonly #tables: readonly Table[];
  readonly #choose: (below: number) => number;

  constructor(tables: readonly Table[], choose: (below: number) => number) {
    this.#tables = tables;
    this.#choose = choose;
  }

  #pick<T>(...of: readonly T[]): T {
    return of[this.#choose(of.length)] as T;
  }

  #condition(of: Table): string {
    const number = this.#choose(7);
    const own = [
      `v: {_gt: ${number - 3}}`,
      // A relationship may fix `_eq`.
      `n: {_in: [${number}]}`,
      's: {_is_null: true}',
      `_not: {v: {_lt: ${number}}}`,
      `id: {_in: [0, 2, ${number}]}`,
    ];
    // Conditions on related rows exist only within one database.
    const parent = of.parent === null ? undefined : this.#tables[of.parent];
    if (parent?.side === of.side) own.push(`up: {v: {_gt: ${number - 3}}}`);
    return `{${this.#pick(...own)}}`;
  }

  args(of: Table): string {
    const parts = [`order_by: ${this.#pick('{id: asc}', '[{v: desc_nulls_last}, {id: desc}]', '[{s: asc}, {n: desc}, {id: asc}]')}`];
    if (this.#choose(2) === 0) parts.push(`where: ${this.#condition(of)}`);
    if (this.#choose(2) === 0) parts.push(`limit: ${this.#choose(4)}`);
    if (this.#choose(4) === 0) parts.push(`offset: ${this.#choose(3)}`);
    return `(${parts.join(', ')})`;
  }

  aggregate(of: Table, depth: number): string {
    const nodes = this.#choose(2) === 0 ? ` nodes { ${this.fields(of, depth)} }` : '';
    return `{ aggregate { count n: count(columns: s, distinct: true) sum { v } min { s } max { m } avg { v } }${nodes} }`;
  }

  fields(of: Table, depth: number): string {
    const fields = [this.#pick('id v', 'code s', 'c m', 'n')];
    if (depth === 0) return fields.join(' ');
    const parent = of.parent === null ? undefined : this.#tables[of.parent];
    if (parent !== undefined && this.#choose(3) > 0) fields.push(`up { ${this.fields(parent, depth - 1)} }`);
    for (const child of this.#tables) {
      if (child.parent === null || this.#tables[child.parent] !== of) continue;
      const kind = this.#choose(4);
      if (kind < 3) fields.push(`to_${child.name}${this.args(child)} { ${this.fields(child, depth - 1)} }`);
      if (kind > 1) fields.push(`to_${child.name}_aggregate${this.args(child)} ${this.aggregate(child, depth - 1)}`);
    }
    return fields.join(' ');
  }
}

/** Removes the whitespace that a database puts between values, which parsing a server's answer loses. */
const compact = (json: string): string => json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

/** Also removes the last digits of means, which other databases compute as doubles. */
const asValues = (json: string): string =>
  JSON.stringify(JSON.parse(json, (_, value) => (typeof value === 'number' && !Number.isInteger(value) ? value.toPrecision(12) : value)));

/**
 * Compares the answers of some worlds from one database and from three locations.
 * @param counts number of worlds, and of queries per world
 * @param other used in some of them; null for none
 * @returns number of queries between locations, and of those with the other kind of database
 */
export async function compareScattered(
  counts: { readonly worlds: number; readonly queries: number },
  other: Other | null,
): Promise<{ readonly crossed: number; readonly mixed: number }> {
  let crossed = 0;
  let mixed = 0;
  const property = fc.asyncProperty(world, fc.gen(), fc.boolean(), async (tables, generate, hasOther) => {
    const right = hasOther && tables.some(({ side }) => side === 'right') ? other : null;
    const kind = (): Kind => (generate(fc.boolean) ? 'dbc' : 'postgres');
    const kinds: Kinds = { whole: kind(), left: kind(), right: kind() };
    await setUp(tables, right, kinds);
    const query = new Query(tables, (below) => generate(fc.nat, { max: below - 1 }));
    for (let i = 0; i < counts.queries; i++) {
      const root = tables[generate(fc.nat, { max: tables.length - 1 })] as Table;
      const rest = generate(fc.boolean)
        ? `${root.name}${query.args(root)} { ${query.fields(root, 3)} }`
        : `${root.name}_aggregate${query.args(root)} ${query.aggregate(root, 3)}`;
      const role = generate(fc.constantFrom, 'admin', 'user');
      const ask = async (source: string): Promise<string> => {
        const answer = await service.send('/v1/graphql', {
          method: 'POST',
          headers: { 'x-svc-role': role },
          body: JSON.stringify({ query: `{ root: ${source}_${rest} }` }),
        });
        return answer.text;
      };
      const [one, two] = await Promise.all([ask('whole'), ask(root.side)]);
      expect(one).toMatch(/^\{"data":/);
      const isSpaced = tables.some(({ side }) => side === 'away') || Object.values(kinds).includes('dbc');
      const alike = right !== null ? asValues : isSpaced ? compact : (text: string): string => text;
      expect(alike(two), `${role}: ${rest}`).toBe(alike(one));
      if (tables.some(({ side }) => side !== root.side) && /to_|up/.test(rest)) {
        crossed += 1;
        if (right !== null) mixed += 1;
      }
    }
  });
  await fc.assert(property, { numRuns: counts.worlds, seed: SEED, endOnFailure: !DEEP });
  return { crossed, mixed };
}
