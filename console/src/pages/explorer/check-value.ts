/** Checks the values of arguments, and those of variables, against their types. */
import { readType, type SchemaPersona, type TypeReference } from '../../api/types.ts';
import { similarTo } from '../../model/similar.ts';
import type { Span } from '../../model/document-place.ts';
import type { ValueNode, VariableNode } from '../../model/graphql-ast.ts';
import { isUsableAs, itemType, nullableType, scalarFault, type SimpleValue } from '../../model/graphql-type-text.ts';

export interface ValueScope {
  readonly as: SchemaPersona;
  readonly variables: ReadonlyMap<string, VariableNode>;
  report(span: Span, message: string): void;
}

/** Reports the problems of a value in a document. @throws Failure if the role may not introspect the schema */
export async function checkValue(value: ValueNode, type: TypeReference, scope: ValueScope): Promise<void> {
  const { report } = scope;
  if (value.kind === 'variable') return checkVariable(value, type, scope);
  if (value.kind === 'null') {
    if (type.text.endsWith('!')) report(value, `Expected ${type.text}, found null.`);
    return;
  }
  const item = itemType(type.text);
  if (value.kind === 'list') {
    if (item === undefined) {
      // Custom scalars such as jsonb accept lists.
      if (type.kind !== 'SCALAR' || isBuiltIn(type.name)) report(value, `Expected ${type.text}, found a list.`);
      return;
    }
    await Promise.all(value.items.map((each) => checkValue(each, { ...type, text: item }, scope)));
    return;
  }
  // A single value stands for a list of one.
  if (item !== undefined) return checkValue(value, { ...type, text: item }, scope);
  if (value.kind === 'object') return checkObject(value, type, scope);
  if (type.kind === 'INPUT_OBJECT') return report(value, `Expected an object of the type ${type.name}.`);
  if (type.kind === 'ENUM') return checkEnum(value, type, scope);
  const expected = scalarFault(type.name, value);
  if (expected !== undefined) report(value, `Expected ${expected} for the type ${nullableType(type.text)}.`);
}

function checkVariable(value: ValueNode & { readonly kind: 'variable' }, type: TypeReference, { variables, report }: ValueScope): void {
  const declared = variables.get(value.name);
  if (declared === undefined) {
    report(value, `Declare the variable: $${value.name}: ${type.text}`);
    return;
  }
  const isNeverNull = declared.defaultValue !== undefined && declared.defaultValue.kind !== 'null' && !declared.type.endsWith('!');
  if (!isUsableAs(isNeverNull ? `${declared.type}!` : declared.type, type.text))
    report(value, `The variable has the type ${declared.type}, but ${type.text} is expected.`);
}

async function checkObject(value: ValueNode & { readonly kind: 'object' }, type: TypeReference, scope: ValueScope): Promise<void> {
  if (type.kind !== 'INPUT_OBJECT') {
    if (type.kind === 'ENUM' || isBuiltIn(type.name)) scope.report(value, `Expected ${type.text}, found an object.`);
    return;
  }
  const found = await readType(scope.as, type.name);
  if (found === undefined) return;
  const { inputFields } = found;
  await Promise.all(
    value.fields.map(async (field) => {
      const input = inputFields.get(field.name);
      if (input !== undefined) return checkValue(field.value, input, scope);
      scope.report(field, `${type.name} has no field ${field.name}.${similarTo(field.name, inputFields.keys())}`);
    }),
  );
  for (const { field, text, hasDefault } of inputFields.values()) {
    if (text.endsWith('!') && !hasDefault && !value.fields.some(({ name }) => name === field))
      scope.report({ from: value.from, to: value.from + 1 }, `${type.name} needs the field ${field}: ${text}.`);
  }
}

async function checkEnum(value: Span & SimpleValue, { name }: TypeReference, { as, report }: ValueScope): Promise<void> {
  if (value.kind !== 'enum') return report(value, `Expected a value of ${name} without quotes.`);
  const values = (await readType(as, name))?.enumValues.map((each) => each.name) ?? [];
  if (values.length === 0 || values.includes(value.text)) return;
  report(value, `${name} has no value ${value.text}.${similarTo(value.text, values)}`);
}

const BUILT_IN: readonly string[] = ['Int', 'Float', 'String', 'Boolean', 'ID'];

function isBuiltIn(name: string): boolean {
  return BUILT_IN.includes(name);
}
