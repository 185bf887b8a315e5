/** Random documents: the cut schema validates them, is valid itself, and each cut is the same. */
import {
  buildClientSchema,
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  introspectionFromSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  parse,
  validate,
  validateSchema,
} from 'graphql';
import { expect, it } from 'vitest';
import { DEEP, SEED } from '../../../test/support/deep.ts';
import { randomOf, type Random } from '../../../test/support/random-schema.ts';
import { cutSchema } from './cut-schema.ts';
import { clientSchema, sdlOf } from '../../project/role-schema/print-schema.ts';
import { type SchemaTypes, typesOfIntrospection } from './schema-types.ts';

const SDL = `
  directive @cached(ttl: Int = 60, mode: Mode = FAST) on QUERY
  enum Mode { FAST SLOW NEVER }
  enum order_by { asc desc asc_nulls_last }
  scalar jsonb
  interface Node { id: ID! related(first: Int = 1, order: order_by = asc): Node }
  interface Named implements Node { id: ID! name(style: Mode): String! related(first: Int = 1, order: order_by = asc): Node }
  union Entity = author | post
  type author implements Node & Named {
    id: ID! name(style: Mode): String! related(first: Int = 1, order: order_by = asc, extra: String): author
    posts(where: post_bool_exp, order_by: [post_order_by!] = [{id: asc}], limit: Int): [post!]!
  }
  type post implements Node { id: ID! title: String mode: Mode! meta(path: String): jsonb author: author! related(first: Int = 1, order: order_by = asc): Node }
  type counts { count(distinct: Boolean): Int! max: post }
  type query_root {
    post(where: post_bool_exp, order_by: [post_order_by!], limit: Int): [post!]!
    author(where: author_bool_exp): [author!]! node(id: ID!): Node named: [Named!] entities(kinds: [Mode!]!): [Entity]! counts(filter: choice): counts!
  }
  type mutation_root { insert_post(objects: [post_insert_input!]!, on_conflict: post_on_conflict): counts update_post(updates: [post_updates!]!): [post] }
  type subscription_root { post_stream(cursor: [post_cursor]!, batch_size: Int!): [post!]! }
  input post_bool_exp { _and: [post_bool_exp!] _not: post_bool_exp id: id_exp title: text_exp meta: jsonb_exp author: author_bool_exp }
  input author_bool_exp { _or: [author_bool_exp!] id: id_exp name: text_exp posts: post_bool_exp posts_aggregate: posts_agg }
  input posts_agg { count: posts_count }
  input posts_count { filter: post_bool_exp predicate: id_exp! distinct: Boolean mode: Mode! = SLOW }
  input id_exp { _eq: ID _in: [ID!] }
  input text_exp { _eq: String _like: String }
  input jsonb_exp { _contains: jsonb _cast: jsonb_cast }
  input jsonb_cast { String: text_exp }
  input post_order_by { id: order_by author: author_order_by }
  input author_order_by { name: order_by posts: post_order_by }
  input post_insert_input { id: ID title: String! mode: Mode = NEVER author: author_rel }
  input author_rel { data: author_insert_input! on_conflict: post_on_conflict }
  input author_insert_input { name: String posts: [post_insert_input!] }
  input post_on_conflict { mode: Mode! update: [Mode!]! = [] where: post_bool_exp }
  input post_updates { where: post_bool_exp! _set: post_set }
  input post_set { title: String mode: Mode }
  input post_cursor { initial: post_set! ordering: order_by }
  input choice @oneOf { a: Int b: post_set c: author_bool_exp }
  schema { query: query_root mutation: mutation_root subscription: subscription_root }
`;
const SCHEMA = buildSchema(SDL);

function typesOf(schema: GraphQLSchema): SchemaTypes {
  return typesOfIntrospection(introspectionFromSchema(schema, { specifiedByUrl: true, inputValueDeprecation: true, oneOf: true }));
}

/** Makes valid documents of a schema. */
class DocumentMaker {
  readonly #random: Random;
  #variables: string[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  document(): string {
    return Array.from({ length: 1 + this.#below(3) }, (_, i) => this.#operation(i)).join('\n');
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  #operation(index: number): string {
    this.#variables = [];
    const kind = this.#pick(['query', 'query', 'mutation', 'subscription'] as const);
    const root = { query: SCHEMA.getQueryType(), mutation: SCHEMA.getMutationType(), subscription: SCHEMA.getSubscriptionType() }[kind];
    const body = this.#selection(root as GraphQLNamedType, 3, kind === 'subscription' ? 1 : 2);
    const variables = this.#variables.length === 0 ? '' : `(${this.#variables.join(', ')})`;
    const cached = kind === 'query' && this.#below(3) === 0 ? this.#pick([' @cached', ' @cached(mode: NEVER)', ' @cached(ttl: 1)']) : '';
    return `${kind} Op${index}${variables}${cached} ${body}`;
  }

  #selection(type: GraphQLNamedType, depth: number, most: number): string {
    const parts: string[] = most === 1 ? [] : this.#below(2) === 0 ? ['__typename'] : [];
    if (isObjectType(type) || isInterfaceType(type)) {
      for (let i = 0; i < 1 + this.#below(most); i++) {
        const field = this.#pick(Object.values(type.getFields()));
        const inner = getNamedType(field.type);
        if (!isLeafType(inner) && depth === 0) continue;
        // Aliases, so that equal fields may have other arguments.
        const alias = `a${this.#below(1_000_000_000)}`;
        parts.push(
          `${alias}: ${field.name}${this.#args(field.args)}${isLeafType(inner) ? '' : ` ${this.#selection(inner, depth - 1, 2)}`}`,
        );
      }
    }
    if ((isUnionType(type) || isInterfaceType(type)) && depth > 0) {
      const on = this.#pick(SCHEMA.getPossibleTypes(type));
      parts.push(`... on ${on.name} ${this.#selection(on, depth - 1, 2)}`);
    }
    return `{ ${parts.length === 0 ? '__typename' : parts.join(' ')} }`;
  }

  #args(args: readonly GraphQLArgument[]): string {
    const given = args.filter((each) => isRequiredArgument(each) || this.#below(2) === 0);
    return given.length === 0 ? '' : `(${given.map(({ name, type }) => `${name}: ${this.#value(type, 3)}`).join(', ')})`;
  }

  #value(type: GraphQLInputType, depth: number): string {
    if (this.#below(3) === 0) {
      const name = `$v${this.#variables.length}`;
      this.#variables.push(`${name}: ${String(type)}`);
      return name;
    }
    return this.#literal(type, depth);
  }

  #literal(type: GraphQLInputType, depth: number): string {
    if (isNonNullType(type)) return this.#literal(type.ofType as GraphQLInputType, depth);
    if (isListType(type)) return `[${this.#below(4) === 0 ? '' : this.#value(type.ofType as GraphQLInputType, depth)}]`;
    if (isEnumType(type)) return this.#pick(type.getValues()).name;
    if (!isInputObjectType(type)) return type.name === 'Boolean' ? 'true' : type.name === 'String' ? '"x"' : '1';
    const fields = Object.values(type.getFields());
    if (type.isOneOf) return `{a: 1}`;
    const given = fields.filter((each) => isRequiredInputField(each) || (depth > 0 && this.#below(3) === 0));
    return `{${given.map((each) => `${each.name}: ${this.#value(each.type, Math.max(0, depth - 1))}`).join(', ')}}`;
  }
}

const CASES = Array.from({ length: DEEP ? 300 : 100 }, (_, i) => SEED + i);

it('cuts to a valid schema, each time the same', async () => {
  for (const seed of CASES) {
    const random = randomOf(seed);
    const text = new DocumentMaker(random).document();
    const document = parse(text);
    expect(validate(SCHEMA, document), text).toEqual([]);
    const depth = Math.floor(random() * 3);
    const { cut, forValidation } = await cutSchema(typesOf(SCHEMA), [document], depth);
    const schema = buildClientSchema(cut);
    expect(validateSchema(schema), text).toEqual([]);
    expect(validate(schema, document), text).toEqual([]);
    expect(validate(clientSchema(await forValidation()), document), text).toEqual([]);
    const sdl = sdlOf(schema);
    expect(validateSchema(buildSchema(sdl)), text).toEqual([]);
    const again = await cutSchema(typesOf(SCHEMA), [document], depth);
    expect(sdlOf(clientSchema(again.cut)), text).toBe(sdl);
    const ofCut = await cutSchema(typesOf(schema), [document], depth);
    expect(sdlOf(clientSchema(ofCut.cut)), text).toBe(sdl);
  }
});
