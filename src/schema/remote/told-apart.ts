/**
 * What is selected of an interface or a union is sent as a fragment for each of its object types. A server refuses fragments that have
 * fields of different shapes under one key, though no object has both: those get keys of their own.
 * https://spec.graphql.org/October2021/#SameResponseShape()
 */
import type { RemoteOutput, RemoteSelection } from '../../ir/remote.ts';

/** By key in the server's answer. */
type Shapes = ReadonlyMap<string, Shape>;

interface Shape {
  readonly shape: string;
  /** null: of a scalar or an enum. */
  readonly fields: Shapes | null;
}

type Selected = ReadonlyMap<string, readonly RemoteOutput[]>;

/** @param types the fields of each object type, by its name. @returns the same, with numbers where keys must differ (`RemoteShape`) */
export function toldApart(types: Selected): Selected {
  const apart = new Map<string, readonly RemoteOutput[]>();
  let known: Shapes = new Map();
  let index = 0;
  for (const [type, outputs] of types) {
    const told = outputs.map((output) => outputApart(output, known, index));
    apart.set(type, told);
    known = union(known, shapesOf(told));
    index += 1;
  }
  return apart;
}

function outputApart(output: RemoteOutput, known: Shapes, apart: number): RemoteOutput {
  const differs = (shapes: Shapes): boolean => [...shapes].some(([key, shape]) => !agree(known.get(key), shape));
  switch (output.kind) {
    case 'typename':
      return output;
    case 'field':
      return differs(shapesOf([output])) ? { ...output, apart } : output;
    case 'joined':
      return {
        ...output,
        keys: output.keys.map((key) => (differs(shapesOf([{ kind: 'hidden', key }])) ? { ...key, apart } : key)),
      };
    case 'hidden':
      return differs(shapesOf([output])) ? { ...output, key: { ...output.key, apart } } : output;
  }
}

function agree(a: Shape | undefined, b: Shape): boolean {
  if (a === undefined) return true;
  if (a.shape !== b.shape) return false;
  if (a.fields === null || b.fields === null) return true;
  for (const [key, shape] of b.fields) if (!agree(a.fields.get(key), shape)) return false;
  return true;
}

function shapesOf(outputs: readonly RemoteOutput[]): Shapes {
  const shapes = new Map<string, Shape>();
  for (const output of outputs) {
    if (output.kind === 'field') {
      const { responseKey, apart, shape, selection } = output;
      shapes.set(JSON.stringify(['field', responseKey, apart ?? null]), { shape, fields: selection === null ? null : fieldsOf(selection) });
    } else if (output.kind !== 'typename') {
      const keys = output.kind === 'hidden' ? [output.key] : output.keys;
      for (const { name, apart, shape } of keys) shapes.set(JSON.stringify(['key', name, apart ?? null]), { shape, fields: null });
    }
  }
  return shapes;
}

/** Selections do not change, and are asked for at each level above them. */
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

/** Of shapes that agree. */
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
