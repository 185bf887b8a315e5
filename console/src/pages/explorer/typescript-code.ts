/** Types of an operation in TypeScript: its variables and its data. */
import { type FieldType, readRootType, readType, rootTypes, type SchemaPersona, type TypeReference } from '../../api/types.ts';
import { templateLiteral } from '../../model/client-code.ts';
import { type DocumentNode, type OperationNode, parseDocument, type SelectionNode } from '../../model/graphql-ast.ts';
import { coreType, itemType } from '../../model/graphql-type-text.ts';

const NUMBERS: readonly string[] = ['Int', 'Float', 'smallint', 'bigint', 'numeric', 'float4', 'float8', 'double', 'decimal'];
const TEXTS = /^(?:String|ID|uuid|date|datetime|time\w*|interval|text|citext|varchar|bpchar|char|name|inet|cidr|bytea)$/;

/**
 * Returns the document and its types.
 * @param index index of the operation in the document
 * @throws DocumentFault for a syntax error, Failure if the role may not introspect the schema
 */
export async function typescriptOf(as: SchemaPersona, text: string, index: number): Promise<string> {
  const document = parseDocument(text);
  const operation = document.operations[index] ?? document.operations[0];
  if (operation === undefined) return '';
  const name = operation.name ?? 'Operation';
  const root = (await rootTypes(as))[operation.kind];
  const fields = root === undefined ? new Map<string, FieldType>() : (await readRootType(as, root)).fields;
  const data = await objectText(as, document, operation.selections, { name: root ?? '', fields }, '');
  return [
    `export const document = ${templateLiteral(text)};`,
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

async function objectText(
  as: SchemaPersona,
  document: DocumentNode,
  selections: readonly SelectionNode[],
  parent: Parent,
  margin: string,
): Promise<string> {
  const lines = new Map<string, string>();
  const add = async (all: readonly SelectionNode[], of: Parent, isOptional: boolean): Promise<void> => {
    for (const selection of all) {
      const mark = isOptional || selection.directives.some(({ name }) => name === 'include' || name === 'skip') ? '?' : '';
      if (selection.kind === 'field') {
        const { alias, name } = selection;
        const field = of.fields.get(name);
        const type =
          name === '__typename' ? 'string' : field === undefined ? 'unknown' : await fieldText(field, selection.selections ?? []);
        lines.set(alias ?? name, `${margin}  ${alias ?? name}${mark}: ${type};\n`);
        continue;
      }
      const fragment =
        selection.kind === 'spread'
          ? document.fragments.find((each) => each.name === selection.name)
          : { type: selection.type, selections: selection.selections };
      if (fragment === undefined) continue;
      const type = fragment.type === undefined || fragment.type.name === of.name ? of : await parentOf(fragment.type.name);
      await add(fragment.selections, type, mark !== '' || type.name !== of.name);
    }
  };
  const parentOf = async (name: string): Promise<Parent> => ({ name, fields: (await readType(as, name))?.fields ?? new Map() });
  const fieldText = async (field: TypeReference, inner: readonly SelectionNode[]): Promise<string> => {
    if (field.kind === 'SCALAR') return wrapped(field.text, scalarText(field.name));
    if (field.kind === 'ENUM') return inputText(as, field.text, false);
    return wrapped(field.text, await objectText(as, document, inner, await parentOf(field.name), `${margin}  `));
  };
  await add(selections, parent, false);
  return `{\n${[...lines.values()].join('')}${margin}}`;
}
