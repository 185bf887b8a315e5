/** A checked selection of introspection fields that can be written for any number of objects. */
import { invariant, SvcError } from '../../errors/svc-error.ts';
import { type CollectedField, namedTypeOf, type OutputField } from '../types.ts';
import { TYPE } from './meta-types.ts';
import type { MetaRead } from './meta-read.ts';

export interface Shape {
  readonly fields: readonly ShapeField[];
  /** Equal for selections with equal answers. */
  readonly key: string;
  /** True for only `kind`, `name`, `ofType` and `__typename` of a type reference: the answer depends on nothing but the reference. */
  readonly ofReference: boolean;
}

export interface ShapeField {
  /** For example `"name":`. */
  readonly prefix: string;
  readonly read: MetaRead;
  readonly shape: Shape | null;
}

/** Maximum nested lists, because they multiply the answer; tools request two levels. */
const MAX_LISTS = 2;
/** Maximum aliases of one field, which multiply the answer as well; tools request none. */
const MAX_ALIASES = 2;
const MULTIPLYING = new Set(['fields', 'args', 'inputFields', 'interfaces', 'possibleTypes']);
const REFERENCE_FIELDS = new Set(['kind', 'name', 'ofType', '__typename']);

/** @throws SvcError validation-failed */
export function shapeOf(collected: readonly CollectedField[], lists = 0): Shape {
  let key = '';
  let ofReference = true;
  const counts = new Map<string, number>();
  const fields = collected.map((field): ShapeField => {
    countAlias(counts, field);
    const prefix = `${JSON.stringify(field.responseKey)}:`;
    for (const argument of field.args.values()) argument.json(); // Only checked: nothing is deprecated, so the value has no effect.
    key += `${field.responseKey}:${field.name}`;
    let shape: Shape | null = null;
    if (field.field === null) {
      key += ',';
      const text = JSON.stringify(field.typeName);
      return { prefix, read: { kind: 'text', read: () => text }, shape };
    }
    const type = namedTypeOf(field.field.type);
    if (type.kind === 'object') {
      const inside = lists + (MULTIPLYING.has(field.name) ? 1 : 0);
      if (inside > MAX_LISTS) {
        throw new SvcError('validation-failed', `introspection with more than ${MAX_LISTS} lists inside one another is not supported`, {
          path: field.path,
        });
      }
      shape = shapeOf(field.select(type), inside);
      key += `{${shape.key}}`;
    }
    if (field.typeName !== TYPE.name || !REFERENCE_FIELDS.has(field.name) || shape?.ofReference === false) ofReference = false;
    key += ',';
    return { prefix, read: readOf(field.field), shape };
  });
  return { fields, key, ofReference };
}

function readOf(field: OutputField): MetaRead {
  const { meaning } = field;
  invariant(meaning.kind === 'text' || meaning.kind === 'object' || meaning.kind === 'list', `${field.name} is a field of introspection`);
  return meaning;
}

function countAlias(counts: Map<string, number>, { name, path }: CollectedField): void {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  if (count > MAX_ALIASES) {
    throw new SvcError('validation-failed', `introspection with more than ${MAX_ALIASES} aliases of one field is not supported`, { path });
  }
}
