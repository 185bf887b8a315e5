/** Writes the difference between the schemas of two databases as SQL. */
import type { DumpContext, SchemaDiff, SchemaDiffScript } from '../../../backend/migration-dialect.ts';
import { scanSql } from '../migrations/scan.ts';
import { enumStatements, growingEnums } from './enums.ts';
import { schemaStatements } from './schemas.ts';
import { sequenceStatements } from './sequences.ts';
import { readSnapshot, type SchemaSnapshot } from './snapshot.ts';
import { comment, printed, type Script, scriptOf } from './statement.ts';
import { tableStatements } from './tables.ts';

/** Marks a file that runs without a transaction, with the reason. */
const NO_TRANSACTION = '-- svc: no-transaction\n-- A value that is added to an enum cannot be used in the transaction that adds it.\n';

/** Returns the SQL that leads from the schema of one database to that of another, and back. */
export async function diffSchemas(from: DumpContext, to: DumpContext): Promise<SchemaDiff> {
  const [before, after] = [await readSnapshot(from), await readSnapshot(to)];
  const up = scriptBetween(before, after, new Set());
  const down = scriptBetween(after, before, up.blocked);
  return { up: fileOf(up, before, after), down: fileOf(down, after, before) };
}

function scriptBetween(from: SchemaSnapshot, to: SchemaSnapshot, blocked: ReadonlySet<string>): Script {
  const statements = [
    ...schemaStatements(from, to),
    ...enumStatements(from, to),
    ...sequenceStatements(from, to),
    ...tableStatements(from, to),
  ];
  return scriptOf(statements, blocked);
}

function fileOf({ statements }: Script, from: SchemaSnapshot, to: SchemaSnapshot): SchemaDiffScript {
  const missing = notCompared(from, to);
  const refused = statements.flatMap((each) => (each.refused === undefined ? [] : [each.refused]));
  const body = statements.map(printed).join('\n');
  const growing = growingEnums(from, to);
  // Refused statements count, because they are run once their comment marks are removed.
  const isOutside =
    scanSql(statements.map(({ sql }) => `${sql};\n`).join('')).enumValues.length > 0 ||
    statements.some(({ usesEnum }) => usesEnum !== undefined && usesEnum !== null && growing.has(usesEnum));
  const head = [isOutside ? NO_TRANSACTION : '', missing.map((each) => comment(`Not included: ${each}`)).join('')].filter(
    (each) => each !== '',
  );
  return {
    sql: statements.length === 0 ? '' : [...head, body].join('\n'),
    omitted: [...missing.map((each) => `not included: ${each}`), ...refused.map((each) => `not done: ${each}`)],
  };
}

/** Objects that differ and are not compared. */
function notCompared(from: SchemaSnapshot, to: SchemaSnapshot): readonly string[] {
  const digests = ({ others }: SchemaSnapshot): ReadonlyMap<string, string> => new Map(others.map(({ what, digest }) => [what, digest]));
  const [before, after] = [digests(from), digests(to)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((what) => {
    const [one, other] = [before.get(what), after.get(what)];
    if (one === other) return [];
    return [`${what} (${one === undefined ? 'new' : other === undefined ? 'dropped' : 'changed'})`];
  });
}
