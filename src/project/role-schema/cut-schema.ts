/** Cuts a schema down to the parts that documents use. */
import type {
  DocumentNode,
  IntrospectionField,
  IntrospectionInputValue,
  IntrospectionOutputTypeRef,
  IntrospectionQuery,
  IntrospectionType,
} from 'graphql';
import { completeUsage } from './complete-usage.ts';
import type { InputShape, SchemaHead, SchemaReader } from './schema-reader.ts';
import { hasFields, isAbstract, namedRef } from './type-parts.ts';
import { type KnownTypes, Usage, type UsedType } from './usage.ts';
import { useDocuments } from './use-documents.ts';

export interface CutSchema {
  /** A valid schema if the documents are valid. */
  readonly cut: IntrospectionQuery;
  /** Types of the cut schema with all their members, to validate documents: an error suggests members that were cut. */
  readonly forValidation: () => IntrospectionQuery;
}

/** Default number of levels of input objects: the columns of a table, and of the tables that it is related to. */
export const DEFAULT_INPUT_DEPTH = 1;

/** Reads the types that the documents need. @throws ProjectFailure if the schema cannot be read */
export async function cutSchema(reader: SchemaReader, documents: readonly DocumentNode[], inputDepth: number): Promise<CutSchema> {
  const head = await reader.head();
  const known = new Map<string, IntrospectionType | null>();
  const shapes = new Map<string, InputShape>();
  for (;;) {
    const usage = usageOf(head, documents, new Usage(known, shapes), inputDepth);
    if (usage.isComplete) return { cut: partsOf(head, known, usage, false), forValidation: () => partsOf(head, known, usage, true) };
    // Roots first: a service finds types at once that an answer has referred to, and searches the whole schema for others.
    const roots = [head.queryType, head.mutationType, head.subscriptionType].flatMap((root) => root?.name ?? []);
    const missingRoots = roots.filter((name) => usage.missing.has(name));
    const wanted = missingRoots.length > 0 ? missingRoots : usage.missing;
    const found = new Map((await reader.types(wanted)).map((type) => [type.name, type]));
    for (const name of wanted) known.set(name, found.get(name) ?? null);
    if (missingRoots.length > 0) continue;
    for (const shape of await reader.shapes(usage.missingShapes)) shapes.set(shape.name, shape);
  }
}

function usageOf(head: SchemaHead, documents: readonly DocumentNode[], usage: Usage, inputDepth: number): Usage {
  // Every schema has a query root, and the standard directives.
  usage.keep(head.queryType.name);
  for (const { name } of head.directives) if (STANDARD_DIRECTIVES.has(name)) usage.keepDirective(name);
  const variableTypes = useDocuments(documents, head, usage);
  const ofDirectives = head.directives.flatMap(({ name, args }) => (usage.directives.has(name) ? args : []));
  completeUsage(usage, new Set([...variableTypes, ...ofDirectives.map(({ type }) => namedRef(type).name)]), inputDepth);
  return usage;
}

const STANDARD_DIRECTIVES: ReadonlySet<string> = new Set(['include', 'skip', 'deprecated', 'specifiedBy', 'oneOf']);
const STANDARD_SCALARS = ['Boolean', 'Float', 'ID', 'Int', 'String'];

/** Type of members that are listed for their names only. */
const UNUSED: IntrospectionOutputTypeRef = { kind: 'SCALAR', name: 'String' };

function partsOf(head: SchemaHead, known: KnownTypes, usage: Usage, withUnused: boolean): IntrospectionQuery {
  const directives = head.directives.filter(({ name }) => usage.directives.has(name));
  const root = (type: SchemaHead['mutationType']) => (type != null && usage.types.has(type.name) ? type : null);
  const standard = STANDARD_SCALARS.filter((name) => !usage.types.has(name)).map((name) => ({ kind: 'SCALAR' as const, name }));
  const types = [...usage.types].flatMap(([name, used]): readonly IntrospectionType[] => {
    const type = known.get(name);
    return type == null ? [] : [partOf(type, used, usage, withUnused)];
  });
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
    const fields = members(type.fields, used, withUnused).map((field): IntrospectionField => {
      const args = used.fields.get(field.name);
      return { ...field, args: args === undefined ? [] : inputs(field.args, args, withUnused) };
    });
    const interfaces = type.interfaces.filter(({ name }) => usage.types.has(name));
    return isAbstract(type) ? { ...type, fields, interfaces } : { ...type, fields, interfaces };
  }
  if (type.kind === 'INPUT_OBJECT') return { ...type, inputFields: inputs(type.inputFields, new Set(used.fields.keys()), withUnused) };
  if (type.kind === 'ENUM' && !withUnused) return { ...type, enumValues: type.enumValues.filter(({ name }) => used.values.has(name)) };
  return type;
}

function members(fields: readonly IntrospectionField[], { fields: used }: UsedType, withUnused: boolean): readonly IntrospectionField[] {
  return fields.flatMap((field) => (used.has(field.name) ? [field] : withUnused ? [{ ...field, type: UNUSED }] : []));
}

function inputs(
  list: readonly IntrospectionInputValue[],
  used: ReadonlySet<string>,
  withUnused: boolean,
): readonly IntrospectionInputValue[] {
  return list.flatMap((each) =>
    used.has(each.name) ? [each] : withUnused ? [{ ...each, type: { kind: 'SCALAR' as const, name: 'String' }, defaultValue: null }] : [],
  );
}
