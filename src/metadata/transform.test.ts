import { describe, expect, it } from 'vitest';
import { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { requestTransformCodec, responseTransformCodec } from './transform.ts';

const body = { action: 'transform', template: '$body' };
const form = { action: 'x_www_form_urlencoded', form_template: { a: 'b' } };

describe.each([
  ['request', requestTransformCodec],
  ['response', responseTransformCodec],
] as const)('a %s transform', (_, codec) => {
  it.each<Json>([
    { version: 1, template_engine: 'Kriti' },
    { version: 1, template_engine: 'Kriti', body: '$body' },
    { version: 2, template_engine: 'Kriti', body },
    { version: 2, template_engine: 'Kriti', body: { action: 'remove' } },
    { version: 2, template_engine: 'Kriti', body: form },
  ])('is encoded as it was decoded: %j', (json) => {
    expect((codec.encode as (value: unknown) => Json)(codec.decode(json, ROOT))).toEqual(json);
  });

  it('is of version 1 by default', () => {
    expect(codec.decode({ body: '1' }, ROOT)).toEqual({ version: 1, body: { action: 'transform', template: '1' } });
  });

  it.each<[Json, string]>([
    [{ version: 3 }, '$.version: expected 1 or 2, encountered 3'],
    [{ version: '2' }, '$.version: parsing Version failed, expected Number, but encountered String'],
    [{ template_engine: 'Other' }, '$.template_engine: unexpected value "Other" for TemplateEngine; expecting one of Kriti'],
    [{ body }, '$.body: parsing Text failed, expected String, but encountered Object'],
    [{ version: 2, body: '$body' }, '$.body: parsing BodyTransform failed, expected Object, but encountered String'],
    [{ version: 2, body: { action: 'other' } }, '$.body.action: invalid transform action'],
    [{ version: 2, body: { action: 'transform' } }, "$.body: the key 'template' was not present"],
    [
      { version: 2, body: { ...form, form_template: { a: 1 } } },
      '$.body.form_template.a: parsing Text failed, expected String, but encountered Number',
    ],
  ])('%j is refused', (json, expected) => {
    expect(refusal(() => codec.decode(json, ROOT))).toBe(expected);
  });
});

describe('request transforms', () => {
  it.each<Json>([
    { method: 'POST', url: 'http://example.org', query_params: 'a=b' },
    { query_params: { a: null, b: '{{ 1 }}' } },
    { request_headers: { add_headers: { a: 'b' }, remove_headers: ['c'] } },
    { request_headers: { remove_headers: ['c'] } },
  ])('%j is encoded as it was decoded', (parts) => {
    const json = { version: 2, template_engine: 'Kriti', ...(parts as object) };
    expect(requestTransformCodec.encode(requestTransformCodec.decode(json, ROOT))).toEqual(json);
  });

  it.each<[Json, string]>([
    [{ method: 'GET /' }, '$.method: "GET /" is not a valid HTTP method'],
    [{ url: 1 }, '$.url: parsing Text failed, expected String, but encountered Number'],
    [{ query_params: [] }, '$.query_params: parsing HashMap failed, expected Object, but encountered Array'],
    [
      { request_headers: { add_headers: { a: null } } },
      '$.request_headers.add_headers.a: parsing Text failed, expected String, but encountered Null',
    ],
    [
      { request_headers: { remove_headers: 'a' } },
      '$.request_headers.remove_headers: parsing [] failed, expected Array, but encountered String',
    ],
  ])('%j is refused', (json, expected) => {
    expect(refusal(() => requestTransformCodec.decode(json, ROOT))).toBe(expected);
  });
});

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof SvcError) return `${thrown.printedPath}: ${thrown.message}`;
    throw thrown;
  }
  return 'no refusal';
}
