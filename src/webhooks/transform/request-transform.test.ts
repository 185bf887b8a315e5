import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestTransformCodec } from '../../metadata/transform.ts';
import type { Json } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { requestContext } from './context.ts';
import { compileRequestTransform, type OutgoingRequest } from './request-transform.ts';
import { TransformFailure } from './transform-failure.ts';
import { parseWebAddress, printParameters, urlParameters, withQuery } from './web-address.ts';
import { runs } from '../../../test/support/deep.ts';

const BASE_URL = 'https://hooks.example.org:8443/base?team=a%20b&flag';
const BODY: Json = { id: 7, name: 'Ann', link: 'a/b c', nothing: null, list: [1, 2] };
const REQUEST: OutgoingRequest = {
  method: 'POST',
  url: BASE_URL,
  headers: [
    ['Content-Type', 'application/json'],
    ['User-Agent', 'svc'],
  ],
  body: { kind: 'json', value: BODY },
};

function apply(transform: Json): OutgoingRequest {
  const context = requestContext({ body: BODY, baseUrl: BASE_URL, sessionVariables: new Map([['X-Svc-User-Id', '5']]) });
  return compileRequestTransform(requestTransformCodec.decode(transform, ROOT))(REQUEST, context);
}

function faults(transform: Json): readonly string[] {
  try {
    apply(transform);
  } catch (thrown) {
    if (!(thrown instanceof TransformFailure)) throw thrown;
    return thrown.faults.map(({ error_code, message }) => `${error_code}: ${message}`);
  }
  return [];
}

const bodyOf = (template: string): Json => {
  const { body } = apply({ version: 1, body: template });
  return body.kind === 'json' ? body.value : body.kind;
};
const urlOf = (transform: Json): string => apply(transform).url;

it('leaves other parts of the call unchanged', () => {
  expect(apply({})).toEqual(REQUEST);
});

describe('the context', () => {
  it.each<[string, Json]>([
    ['$body.name', 'Ann'],
    ['$base_url', BASE_URL],
    [
      '$query_params',
      [
        ['team', 'a b'],
        ['flag', null],
      ],
    ],
    ['$session_variables', { 'x-svc-user-id': '5' }],
    ["getSessionVariable('X-SVC-User-ID')", '5'],
  ])('%s', (template, expected) => expect(bodyOf(template)).toEqual(expected));

  it.each([
    ["getSessionVariable('x-svc-other')", 'Function Error: Session variable "x-svc-other" not found'],
    ["getSessionVariable('__proto__')", 'Function Error: Session variable "__proto__" not found'],
    ['getSessionVariable(1)', 'Function Error: Session variable name should be a string'],
    ['$response', "Name Error: Variable '$response' not in scope"],
  ])('rejects %s', (template, expected) => expect(faults({ body: template })).toEqual([expected]));

  it('contains the original request, whatever the transform changes', () => {
    const changed = apply({
      version: 1,
      url: 'http://other',
      query_params: { x: '1' },
      body: '[$base_url, $query_params[0][1], $body.id]',
    });
    expect(changed).toMatchObject({ url: 'http://other?x=1', body: { value: [BASE_URL, 'a b', 7] } });
  });
});

describe('the URL', () => {
  it.each<[string, Json, string]>([
    ['of a template', { url: 'http://x.example.org/{{$body.id}}' }, 'http://x.example.org/7'],
    ['with a query of its own', { url: '{{$base_url}}&id={{$body.id}}' }, `${BASE_URL}&id=7`],
    ['normalised', { url: 'HTTP://Example.ORG:80/a/../b?é#fragment' }, 'http://example.org/b?%C3%A9'],
    ['without a path', { url: 'http://example.org' }, 'http://example.org/'],
    ['without a path before a query', { url: 'http://example.org?a=1' }, 'http://example.org?a=1'],
    ['with a path before a query', { url: 'http://example.org/?a=1' }, 'http://example.org/?a=1'],
  ])('%s', (_, transform, expected) => expect(urlOf(transform)).toBe(expected));

  it.each<[string, string]>([
    ['{{$body.id}}', 'TransformationError: URL Transforms must produce a JSON String: 7'],
    ['{{$body.list}}', 'TransformationError: URL Transforms must produce a JSON String: [1,2]'],
    ['example.org', 'TransformationError: Invalid URL: example.org'],
    ['ftp://example.org', 'TransformationError: Invalid URL: ftp://example.org'],
    ['http://', 'TransformationError: Invalid URL: http://'],
    ['http:///path', 'TransformationError: Invalid URL: http:///path'],
    ['http://example.org/{{$body.link}}', 'TransformationError: Invalid URL: http://example.org/a/b c'],
    ['http://example.org\\\\@other', 'TransformationError: Invalid URL: http://example.org\\@other'],
    ['http://example.org:99999', 'TransformationError: Invalid URL: http://example.org:99999'],
  ])('rejects %s', (url, expected) => expect(faults({ url })).toEqual([expected]));
});

describe('the query', () => {
  const path = 'https://hooks.example.org:8443/base';
  it.each<[string, Json, string]>([
    ['replaces that of the URL', { a: '{{$body.id}}' }, '?a=7'],
    ['is in order of the names', { b: '1', a: '2' }, '?a=2&b=1'],
    ['has templates for names', { '{{$body.name}}': 'x' }, '?Ann=x'],
    ['drops what is null', { a: '{{$body.nothing}}', '{{$body.nothing}}': 'x', b: 'y' }, '?b=y'],
    ['has names without values', { a: null, b: '' }, '?a&b='],
    ['is escaped', { 'a b': '{{$body.link}}&c' }, '?a%20b=a%2Fb%20c%26c'],
    ['may be empty', {}, ''],
    ['may be one template', '?x={{$body.id}}&y', '?x=7&y'],
    ['may be a template of null', '{{$body.nothing}}', ''],
  ])('%s', (_, queryParams, expected) => expect(urlOf({ query_params: queryParams })).toBe(path + expected));

  it('round-trips through parsing and printing', () => {
    const text = fc.string({ unit: 'grapheme' });
    const parameter = fc.tuple(
      text.filter((name) => name !== ''),
      fc.option(text),
    );
    const address = parseWebAddress('http://example.org/');
    fc.assert(
      fc.property(fc.array(parameter), (parameters) => {
        if (address === undefined) throw new Error('no URL');
        expect(urlParameters(withQuery(address, printParameters(parameters)))).toEqual(parameters);
      }),
      runs(100, 100),
    );
  });
});

describe('headers', () => {
  it('removes headers first, then adds headers sorted by name', () => {
    const { headers } = apply({
      request_headers: {
        remove_headers: ['user-agent', 'CONTENT-TYPE'],
        add_headers: { 'x-id': '{{$body.id}}', 'Content-Type': 'text/plain' },
      },
    });
    expect(headers).toEqual([
      ['Content-Type', 'text/plain'],
      ['x-id', '7'],
    ]);
  });

  it('keeps duplicate headers', () => {
    expect(apply({ request_headers: { add_headers: { 'user-agent': 'other' } } }).headers).toEqual([
      ...REQUEST.headers,
      ['user-agent', 'other'],
    ]);
  });

  it.each<[string, string, string]>([
    ['x', '{{$body.list}}', 'TransformationError: Template must produce a String, Number, or Boolean value'],
    ['x', '{{$body.nothing}}', 'TransformationError: Template must produce a String, Number, or Boolean value'],
    ['x', 'a\\nSet-Cookie: b', 'TransformationError: Invalid value of the header "x"'],
    ['x y', 'a', 'TransformationError: Invalid header name: "x y"'],
  ])('rejects the header %s: %s', (name, value, expected) => {
    expect(faults({ request_headers: { add_headers: { [name]: value } } })).toEqual([expected]);
  });
});

describe('the body', () => {
  it.each<[string, Json, OutgoingRequest['body']]>([
    ['is a template in version 1', { body: '{"id": {{$body.id}}}' }, { kind: 'json', value: { id: 7 } }],
    ['is transformed', { version: 2, body: { action: 'transform', template: '$body.list' } }, { kind: 'json', value: [1, 2] }],
    ['is removed', { version: 2, body: { action: 'remove' } }, { kind: 'none' }],
    [
      'is a form without nulls',
      {
        version: 2,
        body: {
          action: 'x_www_form_urlencoded',
          form_template: { 'b c': '{{$body.link}}', a: 'x{{$body.id}}', n: '{{$body.nothing}}', t: '{{true}}' },
        },
      },
      { kind: 'form', text: 'a=x7&b%20c=a%2Fb%20c&t=true' },
    ],
  ])('%s', (_, transform, expected) => expect(apply(transform).body).toEqual(expected));
});

it('prints the method in upper case', () => {
  expect(apply({ method: 'patch' }).method).toBe('PATCH');
});

it('reports all templates that are invalid, and all that fail', () => {
  const everywhere = (template: string): Json => ({
    version: 2,
    body: { action: 'x_www_form_urlencoded', form_template: { a: template } },
    url: template,
    query_params: { [template]: template },
    request_headers: { add_headers: { x: template } },
  });
  expect(faults(everywhere('{{ ! }}'))).toEqual(Array(5).fill("Lex Error: Unexpected character '!'."));
  // Each part stops at its first error.
  expect(faults(everywhere('{{ $nobody }}'))).toEqual(Array(4).fill("Name Error: Variable '$nobody' not in scope"));
});

it('shares one budget between all of its templates', () => {
  const long = `{{ range _, i := [${Array(600).fill('1').join()}] }} {{ range _, j := [${Array(600).fill('1').join()}] }} 1 {{ end }} {{ end }}`;
  const headers = Object.fromEntries(Array.from({ length: 2 }, (_, i) => [`x${i}`, `{{ size(${long}) }}`]));
  expect(faults({ request_headers: { add_headers: headers } })).toEqual([]);
  const more = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`x${i}`, `{{ size(${long}) }}`]));
  expect(faults({ request_headers: { add_headers: more } })).toEqual(['TransformationError: The template takes more than 2000000 steps.']);
});
