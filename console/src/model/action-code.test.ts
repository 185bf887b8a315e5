import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { resultQueryOf, callOf, formOf, handlerStub, samplePayload, sampleOf } from './action-code.ts';
import { parseActionDocument } from './action-document.ts';

const { actions, types } = parseActionDocument(`
type Mutation { checkout(cart: Cart!, tip: Float, note: [String!]): Receipt! }
input Cart { items: [Item!]! paid: Boolean! way: Way }
input Item { id: ID! parts: [Item!] }
type Receipt { total: Money! lines: [Line!]! }
type Line { text: String receipt: Receipt }
scalar Money
enum Way { CARD CASH }
`);
const [checkout] = actions;
if (checkout === undefined) throw new Error('expected an action');

describe('code for an action', () => {
  it('builds samples of types and ends at recursive ones', () => {
    expect(sampleOf('Cart!', types)).toEqual({ items: [{ id: '1', parts: [] }], paid: true, way: 'CARD' });
    expect(samplePayload(checkout, types)).toMatchObject({ action: { name: 'checkout' }, input: { tip: 1.5, note: ['text'] } });
  });

  it('limits the depth of samples and selections of wide types', () => {
    const names = Array.from({ length: 10 }, (_, i) => i);
    const level = (i: number): string => `{ ${names.map((n) => `f${n}: T${i + 1}`).join(' ')} id: ID }`;
    const levels = names.map((i) => `type T${i} ${level(i)} input I${i} ${level(i).replaceAll(': T', ': I')}`).join(' ');
    const { actions: wide, types: all } = parseActionDocument(
      `type Query { ask(of: I0): T0 } ${levels} type T10 { id: ID } input I10 { id: ID }`,
    );
    const [ask] = wide;
    if (ask === undefined) throw new Error('expected an action');
    expect(callOf(ask, all, []).length).toBeLessThan(100_000);
    expect(JSON.stringify(samplePayload(ask, all)).length).toBeLessThan(300_000);
  });

  it('selects all fields of the output', () => {
    expect(callOf(checkout, types, ['cart'])).toBe('mutation Call($cart: Cart!) {\n  checkout(cart: $cart) { total lines { text } }\n}');
    expect(callOf(checkout, types, [], true)).toBe('mutation Call {\n  checkout\n}');
    expect(resultQueryOf(checkout, types)).toContain('checkout(id: $id) { id created_at errors output { total lines { text } } }');
    expect(callOf({ ...checkout, outputType: '[String!]' }, types, [])).toBe('mutation Call {\n  checkout\n}');
  });

  it('prints a handler with TypeScript types', () => {
    const stub = handlerStub(checkout, types);
    expect(stub).toContain(`type Way = 'CARD' | 'CASH';`);
    expect(stub).toContain('interface Cart {\n  items: Item[];\n  paid: boolean;\n  way?: Way | null;\n}');
    expect(stub).toContain('interface CheckoutInput {\n  cart: Cart;\n  tip?: number | null;\n  note?: string[] | null;\n}');
    expect(stub).toContain('async function checkout(input: CheckoutInput, session: Record<string, string>): Promise<Receipt>');
  });

  it('prints a handler that decodes characters split between chunks', () => {
    const [, loop = ''] = /(for await [\s\S]*?);\n/.exec(handlerStub(checkout, types)) ?? [];
    const asynchronous = Object.getPrototypeOf(async () => undefined).constructor as new (
      ...code: string[]
    ) => (request: Readable) => Promise<string>;
    const read = new asynchronous('request', `let body = ''; ${loop}; return body;`);
    const bytes = Buffer.from('"ü"');
    return expect(read(Readable.from([bytes.subarray(0, 2), bytes.subarray(2)], { objectMode: false }))).resolves.toBe('"ü"');
  });

  it('names the input type in pascal case', () => {
    expect(handlerStub({ ...checkout, name: 'check_out_2' }, types)).toContain('interface CheckOut2Input {');
  });

  it('chooses a form control by the type of an argument', () => {
    expect(['Int!', 'Boolean', 'uuid', '[Int]', 'Cart!', 'Way'].map((type) => formOf(type, types))).toEqual([
      'number',
      'boolean',
      'text',
      'json',
      'json',
      ['CARD', 'CASH'],
    ]);
  });
});
