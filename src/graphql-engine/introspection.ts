/** Answers `__schema` and `__type` of a role schema from the types that operations are checked with. */
import type { AnswerCache } from './introspection/cache.ts';
import { refTo, SCHEMA, type SchemaSource, TYPE } from './introspection/meta-types.ts';
import { type Shape, shapeOf } from './introspection/shape.ts';
import { startYieldTimer } from './introspection/yield-timer.ts';
import { createTypeWalk } from './introspection/type-walk.ts';
import { writeIntrospection } from './introspection/write.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import { STRING_SCALAR } from './input/built-in-scalars.ts';
import { type MetaMeaning, typeRef, type NamedType, type OutputField, type ResponseNode, type RootTypes } from './types.ts';

export interface IntrospectionOptions {
  /** Maximum characters of one answer. */
  readonly maxCharacters: number;
  readonly answers: AnswerCache;
  /** Builds separate, equal roots to walk as a whole. Default: the roots themselves. */
  readonly wholeRoots?: (() => RootTypes) | undefined;
}

const NULL = bytesOfText('null');

/**
 * Returns the additional fields of a query root.
 * Answers are produced cooperatively when the response is written, and are cached for equal selections.
 */
export function introspectionFields(roots: RootTypes, options: IntrospectionOptions): ReadonlyMap<string, OutputField> {
  const answers = options.answers.forSchema();
  const types = createTypeWalk(roots, [SCHEMA]);

  const deferred = (key: string, produce: () => Promise<readonly Bytes[]>): ResponseNode => ({
    kind: 'deferred',
    produce: () => answers.get(key, produce),
  });

  const writeSchema = async (shape: Shape): Promise<readonly Bytes[]> => {
    const timer = startYieldTimer();
    if (!shape.fields.some((field) => field.read === TYPES_READ)) {
      return writeIntrospection(shape, { roots, types: [] } satisfies SchemaSource, timer, options.maxCharacters);
    }
    // The whole schema takes a hundred times the memory of its compressed answer: it is built for the answer and released.
    const whole = options.wholeRoots?.() ?? roots;
    const listed = await createTypeWalk(whole, [SCHEMA]).all(timer);
    return writeIntrospection(shape, { roots: whole, types: listed } satisfies SchemaSource, timer, options.maxCharacters);
  };
  const writeType = async (shape: Shape, name: string): Promise<readonly Bytes[]> => {
    const timer = startYieldTimer();
    const type: NamedType | undefined = await types.find(name, timer);
    return type === undefined ? [NULL] : writeIntrospection(shape, refTo(type), timer, options.maxCharacters, types.refer);
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
      { name: '__schema', description: null, type: typeRef('__Schema', () => SCHEMA, true), args: new Map(), meaning: schemaMeaning },
    ],
    [
      '__type',
      {
        name: '__type',
        description: null,
        type: typeRef('__Type', () => TYPE),
        args: new Map([['name', { name: 'name', description: null, type: typeRef('String', () => STRING_SCALAR, true) }]]),
        meaning: typeMeaning,
      },
    ],
  ]);
}

const TYPES_READ = SCHEMA.fields().get('types')?.meaning;
