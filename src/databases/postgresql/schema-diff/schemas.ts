import type { SchemaSnapshot } from './snapshot.ts';
import { key, type DiffStatement } from './statement.ts';

/** Statements for schemas and extensions. */
export function schemaStatements(from: SchemaSnapshot, to: SchemaSnapshot): readonly DiffStatement[] {
  const [before, after] = [extensionNames(from), extensionNames(to)];
  return [
    ...to.schemas.filter((name) => !from.schemas.includes(name)).map(createSchema),
    ...to.extensions
      .filter(({ name }) => !before.has(name))
      .map(({ name, schema }): DiffStatement => {
        return { phase: 'create extensions', sql: `create extension if not exists ${name} with schema ${schema}`, touches: [] };
      }),
    ...from.extensions.filter(({ name }) => !after.has(name)).map(({ name }) => dropExtension(name, from, to)),
    ...from.schemas.filter((name) => !to.schemas.includes(name)).map((name) => dropSchema(name, from)),
  ];
}

function extensionNames({ extensions }: SchemaSnapshot): ReadonlySet<string> {
  return new Set(extensions.map(({ name }) => name));
}

function createSchema(name: string): DiffStatement {
  return { phase: 'create schemas', sql: `create schema ${name}`, touches: [key('schema', name)] };
}

/** An object that is not compared may use the extension, so that it cannot be dropped before that object. */
function dropExtension(name: string, from: SchemaSnapshot, to: SchemaSnapshot): DiffStatement {
  const after = new Set(to.others.map(({ what }) => what));
  const others = from.others.flatMap(({ what }) => (after.has(what) ? [] : [what]));
  return {
    phase: 'drop extensions',
    sql: `drop extension ${name}`,
    touches: [],
    refused: others.length === 0 ? undefined : `${others.join(', ')} may use the extension ${name}`,
  };
}

function dropSchema(name: string, from: SchemaSnapshot): DiffStatement {
  const others = from.others.flatMap(({ what, schema }) => (schema === name ? [what] : []));
  const isIn = ({ schema }: { readonly schema: string }): boolean => schema === name;
  return {
    phase: 'drop schemas',
    sql: `drop schema ${name}`,
    touches: [
      key('schema', name),
      ...from.tables.filter(isIn).map((table) => key('table', table.name)),
      ...from.enums.filter(isIn).map((type) => key('type', type.name)),
      ...from.sequences.filter(({ options }) => isIn(options)).map(({ options }) => key('sequence', options.name)),
    ],
    refused: others.length === 0 ? undefined : `${others.join(', ')} would have to be dropped with the schema ${name}`,
    blocks: [key('schema', name)],
  };
}
