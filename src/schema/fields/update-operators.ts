/** `_set`, `_inc` and the operators on JSON: their input types and assignments. */
import type { TypeSystem } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Assignment } from '../../ir/mutation.ts';
import type { Operand } from '../../ir/value.ts';
import type { CollectedField, InputValue, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { columnValue, nonNullOperand } from './column-value.ts';
import { commentOr, quoted } from './descriptions.ts';
import { rejectRowMove } from './distribution.ts';
import { invalid } from './input.ts';
import type { SharedTypes } from './shared-types.ts';
import type { UpdateOperators, WriteColumn, WriteTable } from './write-table.ts';

interface OperatorDefinition {
  readonly operator: Assignment['operator'];
  readonly argument: string;
  readonly typeSuffix: string;
  readonly description: string;
  /** Description of the input type; that of the argument if null. */
  readonly typeDescription: ((table: string) => string) | null;
  applies(column: WriteColumn): boolean;
  readonly operand: OperandKind;
}

/** Reads the value of one column. */
interface OperandKind {
  reference(shared: SharedTypes, column: WriteColumn): InputTypeRef;
  read(shared: SharedTypes, input: InputValue, column: WriteColumn): Operand;
}

const STORED: OperandKind = {
  reference: (_shared, column) => column.place.input(false),
  read: (_shared, input, column) => columnValue(input, column),
};

const SAME_TYPE: OperandKind = {
  reference: (_shared, column) => column.place.input(false),
  read: (_shared, input, column) => nonNullOperand(input, column.place.type, false),
};

function fixedType(name: keyof TypeSystem['basic'], list: boolean): OperandKind {
  const type = (shared: SharedTypes): CatalogType => shared.types.basic[name];
  return {
    reference: (shared) => (list ? listTypeRef(shared.reference(type(shared), true)) : shared.reference(type(shared))),
    read: (shared, input) => nonNullOperand(input, type(shared), list),
  };
}

const hasJsonOperators = ({ place }: WriteColumn): boolean => place.json && place.scalar.jsonOperators;

const OPERATORS: readonly OperatorDefinition[] = [
  {
    operator: 'set',
    argument: '_set',
    typeSuffix: 'set_input',
    description: 'sets the columns of the filtered rows to the given values',
    typeDescription: (table) => `input type for updating data in table ${table}`,
    applies: () => true,
    operand: STORED,
  },
  {
    operator: 'inc',
    argument: '_inc',
    typeSuffix: 'inc_input',
    description: 'increments the numeric columns with given value of the filtered values',
    typeDescription: (table) => `input type for incrementing numeric columns in table ${table}`,
    applies: ({ place }) => place.numeric,
    operand: SAME_TYPE,
  },
  {
    operator: 'append',
    argument: '_append',
    typeSuffix: 'append_input',
    description: 'append existing jsonb value of filtered columns with new jsonb value',
    typeDescription: null,
    applies: hasJsonOperators,
    operand: SAME_TYPE,
  },
  {
    operator: 'prepend',
    argument: '_prepend',
    typeSuffix: 'prepend_input',
    description: 'prepend existing jsonb value of filtered columns with new jsonb value',
    typeDescription: null,
    applies: hasJsonOperators,
    operand: SAME_TYPE,
  },
  {
    operator: 'delete-key',
    argument: '_delete_key',
    typeSuffix: 'delete_key_input',
    description: 'delete key/value pair or string element. key/value pairs are matched based on their key value',
    typeDescription: null,
    applies: hasJsonOperators,
    operand: fixedType('text', false),
  },
  {
    operator: 'delete-elem',
    argument: '_delete_elem',
    typeSuffix: 'delete_elem_input',
    description:
      'delete the array element with specified index (negative integers count from the end). throws an error if top level container is not an array',
    typeDescription: null,
    applies: hasJsonOperators,
    operand: fixedType('integer', false),
  },
  {
    operator: 'delete-at-path',
    argument: '_delete_at_path',
    typeSuffix: 'delete_at_path_input',
    description: 'delete the field or element with specified path (for JSON arrays, negative integers count from the end)',
    typeDescription: null,
    applies: hasJsonOperators,
    operand: fixedType('text', true),
  },
];

/** An operator of one table. */
interface Operator {
  readonly field: InputField;
  assignments(input: InputValue): readonly Assignment[];
}

export function updateOperators(table: WriteTable): UpdateOperators {
  const operators = OPERATORS.flatMap((definition) => operatorOf(table, definition) ?? []);
  return {
    fields: new Map(operators.map(({ field }) => [field.name, field])),
    assignments: (get, at) => {
      const requested = operators.flatMap((operator) => {
        const input = get(operator.field.name);
        return input === null ? [] : operator.assignments(input);
      });
      rejectRepeated(table, requested, at);
      // Presets are also applied without operators: clients use updates that only set presets.
      return [...requested, ...presetsOf(table)];
    },
  };
}

function operatorOf(table: WriteTable, definition: OperatorDefinition): Operator | null {
  const { source, info } = table;
  const columns = [...table.updateColumns().values()].filter(definition.applies);
  if (columns.length === 0) return null;
  const byName = new Map(columns.map((column) => [column.name, column]));
  const { shared } = source;
  const { operator, operand, description } = definition;
  const type: InputObjectType = {
    kind: 'input-object',
    name: source.tableType(info, definition.typeSuffix),
    description: definition.typeDescription?.(quoted(source.info, info.name)) ?? description,
    derivedFrom: info,
    fields: lazy(
      () =>
        new Map(
          columns.map((column): [string, InputField] => {
            const comment = commentOr(column.info.comment, column.info.catalog.comment);
            return [column.name, { name: column.name, description: comment, type: operand.reference(shared, column) }];
          }),
        ),
    ),
  };
  return {
    field: { name: source.field(definition.argument), description, type: typeRef(type.name, () => type) },
    assignments: (input) =>
      input.entries().flatMap((entry): readonly Assignment[] => {
        const column = byName.get(entry.field.name);
        if (column === undefined) return [];
        rejectRowMove(info.catalog, column.info.name, entry.input.path);
        return [{ column: column.info.name, type: column.place.type, operator, operand: operand.read(shared, entry.input, column) }];
      }),
  };
}

function rejectRepeated(table: WriteTable, assignments: readonly Assignment[], at: CollectedField['path']): void {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { column } of assignments) (seen.has(column) ? repeated : seen).add(column);
  if (repeated.size === 0) return;
  const names = [...table.updateColumns().values()].filter(({ info }) => repeated.has(info.name)).map(({ name }) => `'${name}'`);
  throw invalid(`Column found in multiple operators: [${names.join(', ')}].`, at);
}

/** Returns the presets of the role, which every update applies. */
export function presetsOf(table: WriteTable): readonly Assignment[] {
  return [...(table.update?.presets ?? [])].map(([column, operand]) => ({ column, type: operand.type, operator: 'set', operand }));
}
