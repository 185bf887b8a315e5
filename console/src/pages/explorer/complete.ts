/** Completions at a position of a document, from the types of the persona's schema, which are read one by one. */
import { type FieldType, rootFields, rootTypes, type SchemaPersona, type SchemaType, readType } from '../../api/types.ts';
import { type OperationKind, placeAt } from '../../model/graphql-document.ts';
import type { Completion, Completions } from '../../parts/code-editor-types.ts';

const KEYWORDS: readonly Completion[] = ['query', 'mutation', 'subscription', 'fragment'].map((label) => ({ label }));

export async function complete(persona: SchemaPersona, text: string, at: number): Promise<Completions | null> {
  const place = placeAt(text, at);
  if (place.kind === 'none') return null;
  if (place.kind === 'document') return { options: KEYWORDS };
  try {
    if (place.kind === 'fields') {
      const fields =
        place.type === undefined && place.path.length === 0
          ? await fieldsOfRoot(persona, place.operation)
          : (await typeAt(persona, place))?.fields;
      if (fields === undefined) return null;
      return { options: [...fields.values()].map(fieldOption) };
    }
    const input = await inputAt(persona, place);
    if (place.kind === 'value') {
      const type = input === undefined ? undefined : await readType(persona, input.name);
      if (type === undefined) return null;
      const values = type.name === 'Boolean' ? ['true', 'false'] : type.enumValues.map(({ name }) => name);
      if (values.length > 0) return { options: values.map((label) => ({ label })) };
      return type.inputFields.size === 0 ? null : { options: [...type.inputFields.values()].map(inputOption) };
    }
    const fields =
      input === undefined ? await argumentsAt(persona, place) : [...((await readType(persona, input.name))?.inputFields.values() ?? [])];
    return fields === undefined ? null : { options: fields.map(inputOption) };
  } catch {
    // The role may not introspect the schema: no completions.
    return null;
  }
}

function fieldOption({ field, text, description, kind }: FieldType): Completion {
  return { label: field, detail: text, info: description, boost: kind === 'OBJECT' ? 0 : 1 };
}

function inputOption({ field, text, description }: FieldType): Completion {
  return { label: field, detail: text, info: description, apply: `${field}: ` };
}

async function fieldsOfRoot(persona: SchemaPersona, operation: OperationKind): Promise<ReadonlyMap<string, FieldType> | undefined> {
  const name = (await rootTypes(persona))[operation];
  return name === undefined ? undefined : rootFields(persona, name);
}

interface Location {
  readonly operation: OperationKind;
  readonly type: string | undefined;
  readonly path: readonly string[];
}

/** Reads the type whose fields are selected at the end of a path. */
async function typeAt(persona: SchemaPersona, { operation, type, path }: Location): Promise<SchemaType | undefined> {
  let rest = path;
  let name = type;
  if (name === undefined) {
    const [first, ...others] = path;
    if (first === undefined) return undefined;
    name = (await fieldsOfRoot(persona, operation))?.get(first)?.name;
    rest = others;
  }
  let current = name === undefined ? undefined : await readType(persona, name);
  for (const field of rest) {
    const next = current?.fields.get(field)?.name;
    if (next === undefined) return undefined;
    current = await readType(persona, next);
  }
  return current;
}

async function argumentsAt(persona: SchemaPersona, { operation, type, path }: Location): Promise<readonly FieldType[] | undefined> {
  const field = path.at(-1);
  if (field === undefined) return undefined;
  if (type === undefined && path.length === 1) {
    const root = (await rootTypes(persona))[operation];
    return root === undefined ? undefined : (await readType(persona, root))?.fields.get(field)?.arguments;
  }
  return (await typeAt(persona, { operation, type, path: path.slice(0, -1) }))?.fields.get(field)?.arguments;
}

/** Reads the type of the value at the keys; undefined without keys, for the arguments themselves. */
async function inputAt(
  persona: SchemaPersona,
  { keys, ...location }: Location & { readonly keys: readonly string[] },
): Promise<FieldType | undefined> {
  const [first, ...rest] = keys;
  if (first === undefined) return undefined;
  let current = (await argumentsAt(persona, location))?.find(({ field }) => field === first);
  for (const key of rest) {
    if (current === undefined) return undefined;
    current = (await readType(persona, current.name))?.inputFields.get(key);
  }
  return current;
}
