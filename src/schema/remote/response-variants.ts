/**
 * Selections of an interface or a union are sent as a fragment for each object type. A server rejects fragments with fields of different
 * shapes under one key, even if no object has both: such fields get keys of their own.
 * https://spec.graphql.org/October2021/#SameResponseShape()
 */
import type { RemoteOutput, RemoteSelection } from '../../ir/remote.ts';

/** Shapes by key in the server's answer. */
type Shapes = ReadonlyMap<string, Shape>;

interface Shape {
  readonly shape: string;
  /** `null` for a scalar or an enum. */
  readonly fields: Shapes | null;
}

type Selected = ReadonlyMap<string, readonly RemoteOutput[]>;

/**
 * @param types fields of each object type, by its name
 * @returns the fields, with numbers if keys must differ (`RemoteShape`)
 */
export function withVariants(types: Selected): Selected {
  const variant = new Map<string, readonly RemoteOutput[]>();
  let known: Shapes = new Map();
  let index = 0;
  for (const [type, outputs] of types) {
    const changed = outputs.map((output) => withVariant(output, known, index));
    variant.set(type, changed);
    known = union(known, shapesOf(changed));
    index += 1;
  }
  return variant;
}

function withVariant(output: RemoteOutput, known: Shapes, variant: number): RemoteOutput {
  const differs = (shapes: Shapes): boolean => [...shapes].some(([key, shape]) => !areCompatible(known.get(key), shape));
  switch (output.kind) {
    case 'typename':
      return output;
    case 'field':
      return differs(shapesOf([output])) ? { ...output, variant: variant } : output;
    case 'joined':
      return {
        ...output,
        keys: output.keys.map((key) => (differs(shapesOf([{ kind: 'hidden', key }])) ? { ...key, variant: variant } : key)),
      };
    case 'hidden':
      return differs(shapesOf([output])) ? { ...output, key: { ...output.key, variant: variant } } : output;
  }
}

function areCompatible(a: Shape | undefined, b: Shape): boolean {
  if (a === undefined) return true;
  if (a.shape !== b.shape) return false;
  if (a.fields === null || b.fields === null) return true;
  for (const [key, shape] of b.fields) if (!areCompatible(a.fields.get(key), shape)) return false;
  return true;
}

function shapesOf(outputs: readonly RemoteOutput[]): Shapes {
  const shapes = new Map<string, Shape>();
  for (const output of outputs) {
    if (output.kind === 'field') {
      const { responseKey, variant, shape, selection } = output;
      shapes.set(JSON.stringify(['field', responseKey, variant ?? null]), {
        shape,
        fields: selection === null ? null : fieldsOf(selection),
      });
    } else if (output.kind !== 'typename') {
      const keys = output.kind === 'hidden' ? [output.key] : output.keys;
      for (const { name, variant, shape } of keys) shapes.set(JSON.stringify(['key', name, variant ?? null]), { shape, fields: null });
    }
  }
  return shapes;
}

/** Cached, because every level above a selection reads its shapes, which do not change. */
const shapesOfSelections = new WeakMap<RemoteSelection, Shapes>();

function fieldsOf(selection: RemoteSelection): Shapes {
  let shapes = shapesOfSelections.get(selection);
  if (shapes === undefined) {
    shapes =
      selection.kind === 'object' ? shapesOf(selection.fields) : [...selection.types.values()].map(shapesOf).reduce(union, new Map());
    shapesOfSelections.set(selection, shapes);
  }
  return shapes;
}

/** Merges compatible shapes. */
function union(a: Shapes, b: Shapes): Shapes {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const both = new Map(a);
  for (const [key, shape] of b) {
    const other = both.get(key);
    const fields = other === undefined || other.fields === null || shape.fields === null ? null : union(other.fields, shape.fields);
    both.set(key, fields === null ? shape : { ...shape, fields });
  }
  return both;
}
