/** `__schema` and `__type` of a role schema, answered from the same types that operations are checked with. */
import { type AnswerCache, createAnswerCache } from './introspection/cache.ts';
import { refTo, SCHEMA, type SchemaSource, TYPE } from './introspection/meta-types.ts';
import { type Shape, shapeOf } from './introspection/shape.ts';
import { startSlices } from './introspection/slices.ts';
import { createTypeWalk } from './introspection/type-walk.ts';
import { writeAnswer } from './introspection/write.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import { STRING } from './input/built-in-scalars.ts';
import { type MetaMeaning, named, type NamedType, type OutputField, type ResponseNode, type RootTypes } from './types.ts';

export interface IntrospectionOptions {
  /** Characters of one answer. */
  readonly maxCharacters: number;
  readonly cache?: AnswerCache;
  /** Makes the same roots anew, to be walked as a whole; absent: there is one set of them. */
  readonly wholeRoots?: (() => RootTypes) | undefined;
}

/** Shared by all role schemas: what one of them has not been asked for lately makes room. */
const sharedCache = createAnswerCache(16 * 1024 * 1024);
let schemas = 0;
const NULL = bytesOfText('null');

/**
 * The fields that a query root has besides those of its type.
 * Answers are made when the response is written, in slices, and kept for equal selections.
 */
export function introspectionFields(roots: RootTypes, options: IntrospectionOptions): ReadonlyMap<string, OutputField> {
  schemas += 1;
  const identity = `${schemas}`;
  const cache = options.cache ?? sharedCache;
  const types = createTypeWalk(roots, [SCHEMA]);

  const deferred = (key: string, produce: () => Promise<readonly Bytes[]>): ResponseNode => ({
    kind: 'deferred',
    produce: () => cache.get(`${identity} ${key}`, produce),
  });

  const writeSchema = async (shape: Shape): Promise<readonly Bytes[]> => {
    const slices = startSlices();
    if (!shape.fields.some((field) => field.read === TYPES_READ)) {
      return writeAnswer(shape, { roots, types: [] } satisfies SchemaSource, slices, options.maxCharacters);
    }
    // The whole schema takes a hundred times the memory of its compressed answer: it is made for it and let go.
    const whole = options.wholeRoots?.() ?? roots;
    const listed = await createTypeWalk(whole, [SCHEMA]).all(slices);
    return writeAnswer(shape, { roots: whole, types: listed } satisfies SchemaSource, slices, options.maxCharacters);
  };
  const writeType = async (shape: Shape, name: string): Promise<readonly Bytes[]> => {
    const slices = startSlices();
    const type: NamedType | undefined = await types.find(name, slices);
    return type === undefined ? [NULL] : writeAnswer(shape, refTo(type), slices, options.maxCharacters);
  };

  const schemaMeaning: MetaMeaning = {
    kind: 'meta',
    showsSchema: true,
    respond(field) {
      const shape = shapeOf(field.select(SCHEMA));
      return deferred(`__schema{${shape.key}}`, () => writeSchema(shape));
    },
  };
  const typeMeaning: MetaMeaning = {
    kind: 'meta',
    showsSchema: true,
    respond(field) {
      const name = field.args.get('name')?.json() as string;
      const shape = shapeOf(field.select(TYPE));
      return deferred(`__type(${JSON.stringify(name)}){${shape.key}}`, () => writeType(shape, name));
    },
  };
  return new Map([
    [
      '__schema',
      { name: '__schema', description: null, type: named('__Schema', () => SCHEMA, true), args: new Map(), meaning: schemaMeaning },
    ],
    [
      '__type',
      {
        name: '__type',
        description: null,
        type: named('__Type', () => TYPE),
        args: new Map([['name', { name: 'name', description: null, type: named('String', () => STRING, true) }]]),
        meaning: typeMeaning,
      },
    ],
  ]);
}

const TYPES_READ = SCHEMA.fields().get('types')?.meaning;
