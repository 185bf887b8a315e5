/** Types of an operation in TypeScript: its variables and its data. */
import { type FieldType, readRootType, readType, rootTypes, type SchemaPersona } from '../../api/types.ts';
import { templateLiteral } from '../../model/client-code.ts';
import { oneOperation, type SelectedField, selectedFields, type SelectionPart } from '../../model/fragments.ts';
import { type DocumentNode, type OperationNode, parseDocument } from '../../model/graphql-ast.ts';
import { coreType, itemType } from '../../model/graphql-type-text.ts';

const NUMBERS: readonly string[] = ['Int', 'Float', 'smallint', 'bigint', 'numeric', 'float4', 'float8', 'double', 'decimal'];
const TEXTS = /^(?:String|ID|uuid|date|datetime|time\w*|interval|text|citext|varchar|bpchar|char|name|inet|cidr|bytea)$/;

/**
 * Returns the document and its types.
 * @param index index of the operation in the document
 * @throws DocumentFault for a syntax error, Failure if the role may not introspect the schema, Error if there are too many fields
 */
export async function typescriptOf(as: SchemaPersona, text: string, index: number): Promise<string> {
  const document = parseDocument(text);
  const operation = document.operations[index] ?? document.operations[0];
  if (operation === undefined) return '';
  const name = operation.name ?? 'Operation';
  const root = (await rootTypes(as))[operation.kind];
  const fields = root === undefined ? new Map<string, FieldType>() : (await readRootType(as, root)).fields;
  const of = { name: root ?? '', fields };
  const part = { of, selections: operation.selections, open: new Set<string>(), isOptional: false };
  const data = await objectText({ as, document, count: 0 }, [part], '');
  return [
    `export const document = ${templateLiteral(oneOperation(text, index))};`,
    '',
    `export interface ${name}Variables {${await variablesText(as, operation)}}`,
    '',
    `export interface ${name}Data ${data}`,
    '',
  ].join('\n');
}

async function variablesText(as: SchemaPersona, { variables }: OperationNode): Promise<string> {
  const lines = await Promise.all(
    variables.map(async ({ name, type, defaultValue }) => {
      const isOptional = !type.endsWith('!') || defaultValue !== undefined;
      return `\n  ${name}${isOptional ? '?' : ''}: ${await inputText(as, type, true)};`;
    }),
  );
  return lines.length === 0 ? '' : `${lines.join('')}\n`;
}

/** @param expands whether the fields of an input object are written out; objects inside of it are records */
async function inputText(as: SchemaPersona, type: string, expands: boolean): Promise<string> {
  const name = coreType(type);
  const found = await readType(as, name);
  let core = scalarText(name);
  if (found !== undefined && found.enumValues.length > 0) core = found.enumValues.map((each) => JSON.stringify(each.name)).join(' | ');
  else if (found !== undefined && found.inputFields.size > 0) {
    if (!expands) core = 'Record<string, unknown>';
    else {
      const lines = await Promise.all(
        [...found.inputFields.values()].map(
          async ({ field, text }) => `\n    ${field}${text.endsWith('!') ? '' : '?'}: ${await inputText(as, text, false)};`,
        ),
      );
      core = `{${lines.join('')}\n  }`;
    }
  }
  return wrapped(type, core);
}

/** Writes the lists and nulls of a type around its core. */
function wrapped(type: string, core: string): string {
  const item = itemType(type);
  const inner = item === undefined ? core : listOf(wrapped(item, core));
  return type.endsWith('!') ? inner : `${inner} | null`;
}

function listOf(item: string): string {
  return / \| |\{/.test(item) ? `(${item})[]` : `${item}[]`;
}

function scalarText(name: string): string {
  if (NUMBERS.includes(name)) return 'number';
  if (name === 'Boolean') return 'boolean';
  return TEXTS.test(name) ? 'string' : 'unknown';
}

interface Parent {
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldType>;
}

/** Maximum number of fields that are written. A small document with many spreads can select millions. */
const MAX_FIELDS = 20_000;

interface Writer {
  readonly as: SchemaPersona;
  readonly document: DocumentNode;
  /** Number of fields that were written. */
  count: number;
}

async function objectText(writer: Writer, parts: readonly SelectionPart<Parent>[], margin: string): Promise<string> {
  const parentOf = async (name: string): Promise<Parent> => ({ name, fields: (await readType(writer.as, name))?.fields ?? new Map() });
  /** Type of the selections of one field. */
  const fieldText = async (selected: readonly SelectedField<Parent>[]): Promise<string> => {
    const [first] = selected;
    if (first?.node.name === '__typename') return 'string';
    const field = first?.of.fields.get(first.node.name);
    if (field === undefined) return 'unknown';
    if (field.kind === 'SCALAR') return wrapped(field.text, scalarText(field.name));
    if (field.kind === 'ENUM') return inputText(writer.as, field.text, false);
    const typeOf = ({ of, node }: SelectedField<Parent>): string => of.fields.get(node.name)?.name ?? field.name;
    const isMixed = selected.some((each) => typeOf(each) !== field.name);
    const inner = await Promise.all(
      selected.map(async (each) => ({
        of: await parentOf(typeOf(each)),
        selections: each.node.selections ?? [],
        open: each.open,
        isOptional: isMixed || (each.isOptional && selected.length > 1),
      })),
    );
    return wrapped(field.text, await objectText(writer, inner, `${margin}  `));
  };
  const lines: string[] = [];
  for (const [name, selected] of await selectedFields(writer.document, parts, parentOf)) {
    if (++writer.count > MAX_FIELDS) throw new Error(`The operation selects more than ${MAX_FIELDS} fields, too many for types.`);
    const mark = selected.every(({ isOptional }) => isOptional) ? '?' : '';
    lines.push(`${margin}  ${name}${mark}: ${await fieldText(selected)};\n`);
  }
  return `{\n${lines.join('')}${margin}}`;
}
