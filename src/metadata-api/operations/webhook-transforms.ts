import { SvcError } from '../../errors/svc-error.ts';
import {
  anyJson,
  type Codec,
  defaulted,
  leaf,
  list,
  mapOf,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from '../../metadata/codec.ts';
import {
  type ConfiguredText,
  type EnvironmentVariables,
  filledTemplate,
  type MissingVariable,
} from '../../metadata/environment-template.ts';
import { type RequestTransform, requestTransformCodec, responseTransformCodec } from '../../metadata/transform.ts';
import { type RequestContext, requestContext } from '../../webhooks/transform/context.ts';
import { compileRequestTransform, type Header, type OutgoingRequest } from '../../webhooks/transform/request-transform.ts';
import { compileResponseTransform } from '../../webhooks/transform/response-transform.ts';
import { TransformFailure, validationFailed } from '../../webhooks/transform/transform-failure.ts';
import { parseWebAddress } from '../../webhooks/transform/web-address.ts';
import { isJsonArray, type Json, parseJson } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { configuredUrl } from '../../webhooks/configured.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { refused } from '../operation-error.ts';

const fromEnv = object('FromEnv', { fromEnv: required(nonEmptyText) });
const webhookUrl: Codec<ConfiguredText> = leaf(
  'InputWebhook',
  (json, path) =>
    typeof json === 'string' ? { kind: 'template', text: json } : { kind: 'environment', name: fromEnv.decode(json, path).fromEnv },
  (value) => (value.kind === 'template' ? value.text : fromEnv.encode({ fromEnv: value.name })),
  { description: 'A URL template, or `{"from_env": …}`.' },
);

const header: Codec<Header> = leaf(
  'Header',
  (json, path) => {
    if (!isJsonArray(json) || json.length !== 2) throw parseFailed('expected a header as [name, value]', path);
    return [nonEmptyText.decode(json[0] as Json, at(path, 0)), text.decode(json[1] as Json, at(path, 1))];
  },
  (value) => [...value],
  { description: '`[name, value]`' },
);

const args = object('TestWebhookTransform', {
  webhookUrl: required(webhookUrl),
  body: required(anyJson),
  env: defaulted<ReadonlyMap<string, string>>(mapOf(text), () => new Map()),
  requestHeaders: defaulted<readonly Header[]>(list(header), () => []),
  sessionVariables: optional(mapOf(text)),
  requestTransform: required(requestTransformCodec),
  responseTransform: optional(responseTransformCodec),
});

/** Error for a variable that `env` of the arguments lacks. The service's own environment must not leak through a template. */
function missing(variables: readonly MissingVariable[]): SvcError {
  return new SvcError(
    'not-found',
    `Missing Env Var: ${variables.map(({ name }) => name).join(', ')}. For security reasons when testing request options real environment variable values are not available. ` +
      'Give the variable a value in "env".',
  );
}

function validated<T>(of: 'request' | 'response', path: Path, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof TransformFailure ? validationFailed(of, thrown, path) : thrown;
  }
}

const notAnUrl = (url: string): TransformFailure =>
  new TransformFailure([{ error_code: 'Request Initialization Error', message: `Invalid URL: ${url}` }]);

/** Returns the body as JSON, or its text if that is not JSON. */
function decodedBody(body: OutgoingRequest['body']): Json {
  if (body.kind === 'json') return body.value;
  if (body.kind === 'none') return '';
  try {
    return parseJson(body.text);
  } catch {
    return body.text;
  }
}

function transformed(transform: RequestTransform, request: OutgoingRequest, context: RequestContext): OutgoingRequest {
  if (parseWebAddress(request.url) === undefined) throw notAnUrl(request.url);
  return compileRequestTransform(transform)(request, context);
}

const testWebhookTransform: OperationGroup = () => [
  operation({
    type: 'test_webhook_transform',
    args,
    changes: 'nothing',
    errors: [
      refused('not-found', '`env` lacks an environment variable that is used'),
      refused('validation-failed', 'a transform is invalid or cannot be applied; `internal` has the reasons'),
    ],
    documentation: {
      summary:
        'Returns the request that a request transform produces, without sending it. Environment variables come from `env` only. ' +
        'The templates of a response transform are validated.',
      example: {
        webhook_url: 'http://{{HOST}}/hook',
        env: { HOST: 'example.org' },
        body: { user: { id: 7 } },
        session_variables: { 'x-svc-role': 'user' },
        request_transform: {
          version: 2,
          template_engine: 'Kriti',
          method: 'POST',
          url: '{{$base_url}}/users/{{$body.user.id}}',
          query_params: { role: "{{getSessionVariable('x-svc-role')}}" },
          request_headers: { add_headers: { 'content-type': 'application/json' }, remove_headers: ['user-agent'] },
          body: { action: 'transform', template: '{"id": {{$body.user.id}}}' },
        },
      },
    },
    async run({ webhookUrl: target, body, env, requestHeaders, sessionVariables, requestTransform, responseTransform }, { path }) {
      const environment: EnvironmentVariables = Object.assign(Object.create(null), Object.fromEntries(env));
      const url = configuredUrl(target, environment, missing);
      const headers = requestHeaders.map(([name, value]): Header => [name.toLowerCase(), filledTemplate(value, environment, missing)]);
      const request: OutgoingRequest = { method: 'GET', url, headers, body: { kind: 'json', value: body } };
      const context = requestContext({ body, baseUrl: url, sessionVariables: sessionVariables ?? null });
      const result = validated('request', path, () => transformed(requestTransform, request, context));
      if (responseTransform !== undefined) validated('response', path, () => compileResponseTransform(responseTransform));
      return {
        webhook_url: result.url,
        method: result.method,
        headers: result.headers.map(([name, value]) => [name.toLowerCase(), value]),
        body: decodedBody(result.body),
      };
    },
  }),
];

export const webhookTransformOperations: readonly OperationGroup[] = [testWebhookTransform];
