/** Cuts a schema down to the parts that documents use. */
import type { DocumentNode, IntrospectionField, IntrospectionInputValue, IntrospectionQuery, IntrospectionType } from 'graphql';
import { type Cooperative, runCooperatively } from '../../util/cooperative.ts';
import { completeUsage } from './complete-usage.ts';
import type { SchemaHead, SchemaTypes } from './schema-types.ts';
import { byCodeUnits, type FieldsType, hasFields, namedRef } from './type-parts.ts';
import { Usage, type UsedType } from './usage.ts';
import { readRootFields, typeNamesIn, useDocuments } from './use-documents.ts';

export interface CutSchema {
  /** A valid schema if the documents are valid. */
  readonly cut: IntrospectionQuery;
  /** Types of the cut schema with all their members, to validate documents: an error suggests members that were cut. */
  readonly forValidation: () => Promise<IntrospectionQuery>;
}

/** Default number of levels of input objects: the columns of a table, and of the tables that it is related to. */
export const DEFAULT_INPUT_DEPTH = 1;
export const MAX_INPUT_DEPTH = 100;

/** @param onResume called after each pause for other work; an error that it throws ends this one */
export async function cutSchema(
  schema: SchemaTypes,
  documents: readonly DocumentNode[],
  inputDepth: number,
  onResume?: () => void,
): Promise<CutSchema> {
  const { head } = schema;
  // Roots first: types to which their fields refer are then found without a search.
  for (const root of [head.queryType, head.mutationType, head.subscriptionType]) if (root != null) await schema.find(root.name);
  await runCooperatively(readRootFields(documents, head, schema), onResume);
  for (const name of typeNamesIn(documents)) await schema.find(name);
  const usage = new Usage(schema);
  await runCooperatively(collect(head, documents, usage, inputDepth), onResume);
  const parts = (withUnused: boolean) => runCooperatively(partsOf(head, usage, withUnused), onResume);
  return { cut: await parts(false), forValidation: () => parts(true) };
}

function* collect(head: SchemaHead, documents: readonly DocumentNode[], usage: Usage, inputDepth: number): Cooperative<void> {
  // Every schema has a query root, and the standard directives.
  usage.keep(head.queryType.name);
  for (const { name } of head.directives) if (STANDARD_DIRECTIVES.has(name)) usage.directives.add(name);
  const variableTypes = yield* useDocuments(documents, head, usage);
  const ofDirectives = head.directives.flatMap(({ name, args }) => (usage.directives.has(name) ? args : []));
  yield* completeUsage(usage, new Set([...variableTypes, ...ofDirectives.map(({ type }) => namedRef(type).name)]), inputDepth);
}

const STANDARD_DIRECTIVES: ReadonlySet<string> = new Set(['include', 'skip', 'deprecated', 'specifiedBy', 'oneOf']);
const STANDARD_SCALARS = ['Boolean', 'Float', 'ID', 'Int', 'String'];

/** Type of members that are listed for their names only. */
const UNUSED = { kind: 'SCALAR', name: 'String' } as const;

function* partsOf(head: SchemaHead, usage: Usage, withUnused: boolean): Cooperative<IntrospectionQuery> {
  const directives = head.directives.filter(({ name }) => usage.directives.has(name));
  const root = (type: SchemaHead['mutationType']) => (type != null && usage.types.has(type.name) ? type : null);
  const standard = STANDARD_SCALARS.filter((name) => !usage.types.has(name)).map((name) => ({ kind: 'SCALAR' as const, name }));
  const types: IntrospectionType[] = [];
  for (const [name, used] of usage.types) {
    const type = usage.find(name);
    if (type !== undefined) types.push(partOf(type, used, usage, withUnused));
    yield;
  }
  return {
    __schema: {
      queryType: head.queryType,
      mutationType: root(head.mutationType),
      subscriptionType: root(head.subscriptionType),
      directives,
      types: [...types, ...standard],
    },
  };
}

function partOf(type: IntrospectionType, used: UsedType, usage: Usage, withUnused: boolean): IntrospectionType {
  if (hasFields(type)) {
    const fields = outputs(type, used, usage, withUnused).map((field): IntrospectionField => {
      const args = used.fields.get(field.name);
      return { ...field, args: args === undefined ? [] : inputs(field.args, args, withUnused) };
    });
    const interfaces = type.interfaces.filter((each) => usage.types.has(each.name));
    const { name, description } = type;
    // Copies no other members, because that would build all fields.
    return type.kind === 'INTERFACE'
      ? { kind: type.kind, name, description: description ?? null, fields, interfaces, possibleTypes: type.possibleTypes }
      : { kind: type.kind, name, description: description ?? null, fields, interfaces };
  }
  if (type.kind === 'INPUT_OBJECT') return { ...type, inputFields: inputs(type.inputFields, new Set(used.fields.keys()), withUnused) };
  if (type.kind === 'ENUM' && !withUnused) return { ...type, enumValues: type.enumValues.filter(({ name }) => used.values.has(name)) };
  return type;
}

function outputs(type: FieldsType, { fields }: UsedType, usage: Usage, withUnused: boolean): readonly IntrospectionField[] {
  if (withUnused) return type.fields.map((field) => (fields.has(field.name) ? field : { ...field, type: UNUSED }));
  return [...fields.keys()].sort(byCodeUnits).flatMap((name) => usage.field(type.name, name) ?? []);
}

function inputs(
  list: readonly IntrospectionInputValue[],
  used: ReadonlySet<string>,
  withUnused: boolean,
): readonly IntrospectionInputValue[] {
  return list.flatMap((each) => (used.has(each.name) ? [each] : withUnused ? [{ ...each, type: UNUSED, defaultValue: null }] : []));
}
