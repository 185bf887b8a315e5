/** `T_mutation_response`: the number of written rows, and these rows. */
import type { MutationField } from '../../ir/mutation.ts';
import { meaningOf } from '../../graphql-engine/meaning.ts';
import type { CollectedField, ObjectType, OutputField } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { builtin, INT_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { quoted } from './descriptions.ts';
import { typenameField } from './typename.ts';
import type { ResponseType, WriteTable } from './write-table.ts';

export function responseType(table: WriteTable): ResponseType {
  const { source, info } = table;
  const type: ObjectType = {
    kind: 'object',
    name: source.tableType(info, 'mutation_response'),
    description: `response of any mutation on the table ${quoted(source.info, info.name)}`,
    fields: lazy(() => new Map(responseFields(table).map((field) => [field.name, field]))),
  };
  return { type, output: (field) => ({ kind: 'response', fields: field.select(type).map(translateField) }) };
}

function translateField(field: CollectedField): MutationField {
  if (field.field === null) return typenameField(field);
  return meaningOf(field.field, 'mutation-result').toField(field);
}

/** `returning` shows rows, so it requires the select permission. */
function responseFields({ source, selected }: WriteTable): readonly OutputField[] {
  const affected: OutputField = {
    name: source.field('affected_rows'),
    description: 'number of rows affected by the mutation',
    type: builtin(INT_SCALAR, true),
    args: new Map(),
    meaning: { kind: 'mutation-result', toField: (field) => ({ kind: 'affected-rows', alias: field.responseKey }) },
  };
  if (selected === null) return [affected];
  const returning: OutputField = {
    name: source.field('returning'),
    description: 'data from the rows affected by the mutation',
    type: listTypeRef(
      typeRef(selected.name, () => selected.rows().type, true),
      true,
    ),
    args: new Map(),
    meaning: {
      kind: 'mutation-result',
      toField: (field) => ({ kind: 'returning', alias: field.responseKey, fields: selected.rows().fields(field) }),
    },
  };
  return [affected, returning];
}
