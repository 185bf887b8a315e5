// Writes docs/reference/operators.md from the types and operators of the database kinds; with --check, only fails if the page is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { backends } = await tsImport('../src/databases/index.ts', import.meta.url);

/** Types on the page for each kind; the last one stands for all types that the kind does not know. */
const TYPES = {
  pg: [
    'bool int2 int4 int8 numeric float4 float8 money',
    'text varchar bpchar name citext',
    'uuid date time timetz timestamp timestamptz interval',
    'json jsonb bytea',
    'inet cidr ltree lquery ltxtquery tsvector xml bit',
    'int4range int8range numrange daterange tsrange tstzrange',
    'geometry geography raster',
    'anything_else',
  ],
  dbb: [
    'boolean tinyint smallint mediumint int bigint year bit decimal float double',
    'char varchar text enum set binary blob',
    'uuid inet6 date time datetime timestamp json geometry',
  ],
  dwh: ['BOOL INT64 NUMERIC BIGNUMERIC FLOAT64 STRING BYTES', 'DATE TIME DATETIME TIMESTAMP INTERVAL JSON STRUCT GEOGRAPHY', 'RANGE<DATE>'],
};
const NAMES = { pg: 'PostgreSQL, and Citus', dbb: 'MariaDB', dwh: 'BigQuery' };

/** Types of extensions, which are in the extensions schema. */
const EXTENSIONS = new Set('citext ltree lquery ltxtquery geometry geography raster anything_else'.split(' '));
const typeOf = (kind, name) => ({
  schema: kind !== 'pg' ? '' : EXTENSIONS.has(name) ? 'public' : 'pg_catalog',
  name,
  kind: kind === 'pg' && name.endsWith('range') ? 'range' : 'base',
  array: false,
});

const code = (words) => words.map((word) => `\`${word}\``).join(' ');
const inCell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function argumentOf({ argument }) {
  switch (argument.kind) {
    case 'same':
      return 'a value of the type';
    case 'list':
      return 'a list of the type';
    case 'type':
      return argument.list ? `a list of \`${argument.type.name}\`` : `\`${argument.type.name}\``;
    case 'input':
      return `an object: ${argument.fields.map(({ name, type, required }) => `\`${name}\` (\`${type.name}\`${required ? '' : ', may be left out'})`).join(', ')}`;
    default:
      return `an object: conditions on the value as ${argument.targets.map(({ key }) => `\`${key}\``).join(', ')}`;
  }
}

function section({ kind, types }) {
  const groups = new Map();
  const operators = new Map();
  for (const name of TYPES[kind].join(' ').split(' ')) {
    const scalar = types.scalar(typeOf(kind, name));
    const own = scalar.comparisons.map((comparison) => comparison.name);
    for (const comparison of scalar.comparisons) operators.set(`${comparison.name} ${argumentOf(comparison)}`, comparison);
    const traits = [
      scalar.numeric ? 'sum, avg and their kin' : '',
      scalar.comparable ? 'min, max' : '',
      scalar.ordered ? '' : 'no order',
      scalar.hasEquality ? '' : 'no comparison',
    ].filter(Boolean);
    const graphql = name === 'anything_else' || name === scalar.graphql ? 'the same' : `\`${scalar.graphql}\``;
    const rest = `${graphql} | ${own.length === 0 ? '–' : code(own)} | ${traits.join('; ') || '–'} |`;
    groups.set(rest, [...(groups.get(rest) ?? []), name === 'anything_else' ? 'any other' : `\`${name}\``]);
  }
  const rows = [...groups].map(([rest, names]) => `| ${names.join(' ')} | ${rest}`);
  const meanings = [...operators.values()].map(
    (comparison) => `| \`${comparison.name}\` | ${argumentOf(comparison)} | ${inCell(comparison.description ?? '–')} |`,
  );
  const arrays = types.arrayComparisons.map((comparison) => comparison.name);
  return [
    `## ${NAMES[kind]}`,
    '',
    '| type | in GraphQL | further operators | aggregates |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...(arrays.length === 0 ? [] : [`Of arrays: ${code(arrays)}.`, '']),
    '| operator | takes | meaning |',
    '|---|---|---|',
    ...meanings,
    '',
  ];
}

const page = [
  '# Types and operators',
  '',
  '<!-- Made by scripts/operators-page.mjs from the types of src/databases/. -->',
  '',
  'What `where`, and the conditions of permissions, may ask of a column. Every type that can be compared has `_eq` `_neq` `_gt` `_lt` `_gte` `_lte`',
  '`_in` `_nin`, and all have `_is_null`. Aggregates: `count` is there for every column. Texts are accepted for every type, as the database writes them.',
  'PostgreSQL and Citus: a type has those of the operators that the catalog of the database has for it ([details](../graphql-schema.md)).',
  '',
  ...backends.filter(({ kind }) => TYPES[kind] !== undefined).flatMap(section),
].join('\n');

const path = join(root, 'docs', 'reference', 'operators.md');
if (!process.argv.includes('--check')) {
  writeFileSync(path, page);
} else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
  console.error('docs/reference/operators.md is stale: run `node scripts/operators-page.mjs`');
  process.exitCode = 1;
}
