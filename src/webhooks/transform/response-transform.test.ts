import { expect, it } from 'vitest';
import { responseTransformCodec } from '../../metadata/transform.ts';
import type { Json } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { requestContext, type ResponseContext } from './context.ts';
import { compileResponseTransform } from './response-transform.ts';
import { TransformFailure } from './transform-failure.ts';

const request = requestContext({ body: { a: 1 }, baseUrl: 'http://example.org/?x=1', sessionVariables: new Map([['x-svc-role', 'user']]) });
const context: ResponseContext = { body: { ok: true }, status: 201, sessionVariables: request.sessionVariables, request };

const apply = (transform: Json, more: Partial<ResponseContext> = {}): Json =>
  compileResponseTransform(responseTransformCodec.decode(transform, ROOT))({ ...context, ...more });

it.each<[Json, Json]>([
  [{}, { ok: true }],
  [{ body: '$body.ok' }, true],
  [{ body: '$response.status' }, 201],
  [{ body: "getSessionVariable('x-svc-role')" }, 'user'],
  [{ body: '$session_variables' }, { 'x-svc-role': 'user' }],
  [
    { body: '$request' },
    { body: { a: 1 }, base_url: 'http://example.org/?x=1', query_params: [['x', '1']], session_variables: { 'x-svc-role': 'user' } },
  ],
  [{ version: 2, body: { action: 'remove' } }, null],
  [{ version: 2, body: { action: 'x_www_form_urlencoded', form_template: { a: '{{$body.ok}}' } } }, 'a=true'],
])('transforms with %j to %j', (transform, expected) => expect(apply(transform)).toEqual(expected));

it('has no request context if the request had no transform', () => {
  expect(apply({ body: '[$request, $request?.body.a]' }, { request: null })).toEqual([null, null]);
});

it.each(['{{', '$base_url', '$body.missing'])('rejects %s', (body) => {
  expect(() => apply({ body })).toThrow(TransformFailure);
});
