// Writes docs/reference/operators.md from the types and operators of the database kinds; with --check, only fails if the page is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { backends } = await tsImport('../src/databases/index.ts', import.meta.url);

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

/** @param titles products of the kinds that share these types */
function section(types, titles) {
  const groups = new Map();
  const operators = new Map();
  for (const type of types.documented) {
    const { name } = type;
    const scalar = types.scalar(type);
    const own = scalar.comparisons.map((comparison) => comparison.name);
    for (const comparison of scalar.comparisons) operators.set(`${comparison.name} ${argumentOf(comparison)}`, comparison);
    const traits = [
      scalar.numeric ? 'sum, avg and similar ones' : '',
      scalar.comparable ? 'min, max' : '',
      scalar.ordered ? '' : 'no order',
      scalar.hasEquality ? '' : 'no comparison',
    ].filter(Boolean);
    const graphql = name === 'any_other' || name === scalar.graphql ? 'the same' : `\`${scalar.graphql}\``;
    const rest = `${graphql} | ${own.length === 0 ? '–' : code(own)} | ${traits.join('; ') || '–'} |`;
    groups.set(rest, [...(groups.get(rest) ?? []), name === 'any_other' ? 'any other' : `\`${name}\``]);
  }
  const rows = [...groups].map(([rest, names]) => `| ${names.join(' ')} | ${rest}`);
  const meanings = [...operators.values()].map(
    (comparison) => `| \`${comparison.name}\` | ${argumentOf(comparison)} | ${inCell(comparison.description ?? '–')} |`,
  );
  const arrays = types.arrayComparisons.map((comparison) => comparison.name);
  return [
    `## ${titles.join(', and ')}`,
    '',
    '| type | in GraphQL | further operators | aggregates |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...(arrays.length === 0 ? [] : [`Arrays: ${code(arrays)}.`, '']),
    '| operator | takes | meaning |',
    '|---|---|---|',
    ...meanings,
    '',
  ];
}

/** Kinds by the list of their types: one that extends another has the same. */
const byTypes = new Map();
for (const backend of backends) byTypes.set(backend.types.documented, [...(byTypes.get(backend.types.documented) ?? []), backend]);

const page = [
  '# Types and operators',
  '',
  '<!-- Made by scripts/operators-page.mjs from the types of src/databases/. -->',
  '',
  'Operators of columns in `where` and in the conditions of permissions. Every type that can be compared has `_eq` `_neq` `_gt` `_lt` `_gte` `_lte`',
  '`_in` `_nin`; all types have `_is_null`. All columns have the aggregate `count`. A string in the notation of the database is accepted for every type.',
  'PostgreSQL and Citus: a type has those operators that the catalog of the database has for it ([details](../graphql-schema.md)).',
  '',
  ...[...byTypes].flatMap(([, kinds]) =>
    section(
      kinds[0].types,
      kinds.map((each) => each.console.title),
    ),
  ),
].join('\n');

const path = join(root, 'docs', 'reference', 'operators.md');
if (!process.argv.includes('--check')) {
  writeFileSync(path, page);
} else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
  console.error('docs/reference/operators.md is stale: run `node scripts/operators-page.mjs`');
  process.exitCode = 1;
}
