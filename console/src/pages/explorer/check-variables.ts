/** Checks the JSON of the variables against the declarations of an operation. */
import { readType, type SchemaPersona, type TypeReference } from '../../api/types.ts';
import { similarTo } from '../../model/similar.ts';
import { DocumentFault, type OperationNode, parseDocument } from '../../model/graphql-ast.ts';
import { coreType, itemType, scalarFault, type SimpleValue } from '../../model/graphql-type-text.ts';
import { isList, isObject, type Json, JsonNumber, parseJsonText } from '../../model/json.ts';
import { placeOfJsonPath } from '../../model/json-place.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';

/**
 * Returns the problems of the variables, with their places in `text`.
 * @param operation index of the operation in the document
 */
export async function checkVariables(as: SchemaPersona, document: string, operation: number, text: string): Promise<readonly CodeMark[]> {
  const declared = operationAt(document, operation);
  if (declared === undefined) return [];
  const problems: CodeMark[] = [];
  const report = (path: string, message: string): void => {
    const place = placeOfJsonPath(text, path);
    problems.push(place === undefined ? { from: 0, to: 1, message } : { from: place.from, to: place.to, message });
  };
  let values: Json = {};
  try {
    if (text.trim() !== '') values = parseJsonText(text);
  } catch {
    // An object that is being written; the request reports it.
    return [];
  }
  if (!isObject(values)) return [{ from: 0, to: text.length, message: 'Expected a JSON object.' }];
  const names = declared.variables.map(({ name }) => name);
  for (const name of Object.keys(values)) {
    if (!names.includes(name)) report(pathTo('$', name), `The operation does not declare the variable ${name}.${similarTo(name, names)}`);
  }
  for (const { name, type, defaultValue } of declared.variables) {
    const value = values[name];
    if (value === undefined) {
      if (type.endsWith('!') && defaultValue === undefined)
        problems.push({ from: 0, to: 1, message: `Enter a value for the variable ${name}: ${type}.` });
      continue;
    }
    try {
      const kind = (await readType(as, coreType(type)))?.kind ?? 'SCALAR';
      await checkJson(value, { text: type, name: coreType(type), kind }, pathTo('$', name), { as, report });
    } catch {
      // The role may not introspect the schema.
    }
  }
  return problems;
}

function operationAt(document: string, index: number): OperationNode | undefined {
  try {
    return parseDocument(document).operations[index];
  } catch (error) {
    if (error instanceof DocumentFault) return undefined;
    throw error;
  }
}

interface JsonScope {
  readonly as: SchemaPersona;
  report(path: string, message: string): void;
}

async function checkJson(value: Json, type: TypeReference, path: string, scope: JsonScope): Promise<void> {
  const { report } = scope;
  if (value === null) {
    if (type.text.endsWith('!')) report(path, `Expected ${type.text}, found null.`);
    return;
  }
  const item = itemType(type.text);
  if (isList(value) && item !== undefined) {
    await Promise.all(value.map((each, index) => checkJson(each, { ...type, text: item }, `${path}[${index}]`, scope)));
    return;
  }
  if (item !== undefined) return checkJson(value, { ...type, text: item }, path, scope);
  if (type.kind === 'INPUT_OBJECT') {
    if (!isObject(value)) return report(path, `Expected an object of the type ${type.name}.`);
    const fields = (await readType(scope.as, type.name))?.inputFields ?? new Map<string, never>();
    await Promise.all(
      Object.entries(value).map(async ([name, each]) => {
        const field = fields.get(name);
        if (field !== undefined) return checkJson(each, field, pathTo(path, name), scope);
        report(pathTo(path, name), `${type.name} has no field ${name}.${similarTo(name, fields.keys())}`);
      }),
    );
    for (const { field, text, hasDefault } of fields.values()) {
      if (text.endsWith('!') && !hasDefault && value[field] === undefined) report(path, `${type.name} needs the field ${field}: ${text}.`);
    }
    return;
  }
  if (type.kind === 'ENUM') {
    const values = (await readType(scope.as, type.name))?.enumValues.map(({ name }) => name) ?? [];
    if (typeof value === 'string' && (values.length === 0 || values.includes(value))) return;
    return report(path, `${type.name} has the values ${values.slice(0, 8).join(', ')}${values.length > 8 ? ', …' : ''}.`);
  }
  const simple = simpleOf(value);
  const expected = simple === undefined ? undefined : scalarFault(type.name, simple);
  if (expected !== undefined) report(path, `Expected ${expected} for the type ${type.text}.`);
}

/** Value of a scalar; undefined for lists and objects, which custom scalars accept. */
function simpleOf(value: Json): SimpleValue | undefined {
  if (value instanceof JsonNumber) return { kind: 'number', text: value.text };
  if (typeof value === 'number') return { kind: 'number', text: String(value) };
  if (typeof value === 'string') return { kind: 'string', text: value };
  return typeof value === 'boolean' ? { kind: 'boolean', text: String(value) } : undefined;
}

function pathTo(path: string, name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
