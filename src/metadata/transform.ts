/**
 * Request and response transforms of the service's calls to webhooks and handlers. Templates are text here; `webhooks/transform/` parses
 * and evaluates them.
 */
import {
  type Codec,
  defaulted,
  leaf,
  like,
  list,
  listOrNone,
  literal,
  mapOf,
  mapOrNone,
  nullable,
  object,
  optional,
  parseFailed,
  required,
  text,
  wrongType,
} from './codec.ts';
import { isJsonNumber, isJsonObject, type Json, numberText } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';

export type TransformVersion = 1 | 2;

export type BodyTransform =
  | { readonly action: 'remove' }
  | { readonly action: 'transform'; readonly template: string }
  | { readonly action: 'x_www_form_urlencoded'; readonly formTemplate: ReadonlyMap<string, string> };

export interface RequestTransform {
  /** In version 1 the body can only be a template. */
  readonly version: TransformVersion;
  readonly method?: string;
  readonly url?: string;
  /** Values by name, null for a name without a value; or one template for the whole query. */
  readonly queryParams?: string | ReadonlyMap<string, string | null>;
  readonly requestHeaders?: HeaderTransform;
  readonly body?: BodyTransform;
}

export interface HeaderTransform {
  readonly addHeaders: ReadonlyMap<string, string>;
  readonly removeHeaders: readonly string[];
}

export interface ResponseTransform {
  readonly version: TransformVersion;
  readonly body?: BodyTransform;
}

const METHOD = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const method: Codec<string> = leaf(
  'Method',
  (json, path) => {
    const value = text.decode(json, path);
    if (!METHOD.test(value)) throw parseFailed(`${JSON.stringify(value)} is not a valid HTTP method`, path);
    return value;
  },
  (value) => value,
  { description: 'An HTTP method; templates are not supported.' },
);

const queryParams: Codec<string | ReadonlyMap<string, string | null>> = leaf(
  'QueryParams',
  (json, path) => (typeof json === 'string' ? json : byName.decode(json, path)),
  (value) => (typeof value === 'string' ? value : byName.encode(value)),
  {
    description: 'A template for the whole query string, or an object with a template for each parameter; `null` omits a parameter.',
  },
);
const byName = mapOf(nullable(text));

const headers: Codec<HeaderTransform> = object('TransformHeaders', {
  addHeaders: mapOrNone(mapOf(text)),
  removeHeaders: listOrNone(list(text)),
});

const bodyAction = object('BodyTransform', { action: required(text) }, { otherKeys: ['template', 'form_template'] });
const noBody = object('BodyTransform', {}, { otherKeys: ['action'] });
const templateBody = object('BodyTransform', { template: required(text) }, { otherKeys: ['action'] });
const formBody = object('BodyTransform', { formTemplate: required(mapOf(text)) }, { otherKeys: ['action'] });

/** In version 2 the body is an object, in version 1 the text of a template. */
function decodeBody(json: Json, version: TransformVersion, path: Path): BodyTransform {
  if (version === 1) return { action: 'transform', template: text.decode(json, path) };
  if (!isJsonObject(json)) throw wrongType('BodyTransform', 'Object', json, path);
  const { action } = bodyAction.decode(json, path);
  switch (action) {
    case 'remove':
      return { action, ...noBody.decode(json, path) };
    case 'transform':
      return { action, ...templateBody.decode(json, path) };
    case 'x_www_form_urlencoded':
      return { action, ...formBody.decode(json, path) };
    default:
      throw parseFailed('invalid transform action', at(path, 'action'));
  }
}

function encodeBody(body: BodyTransform, version: TransformVersion): Json {
  switch (body.action) {
    case 'remove':
      return { action: body.action };
    case 'transform':
      return version === 1 ? body.template : { action: body.action, template: body.template };
    case 'x_www_form_urlencoded':
      return { action: body.action, form_template: Object.fromEntries(body.formTemplate) };
  }
}

const version: Codec<TransformVersion> = leaf(
  'Version',
  (json, path) => {
    if (json !== 1 && json !== 2) {
      if (!isJsonNumber(json)) throw wrongType('Version', 'Number', json, path);
      throw parseFailed(`expected 1 or 2, encountered ${numberText(json)}`, path);
    }
    return json;
  },
  (value) => value,
  { values: ['1', '2'], description: 'A number. In version 1, `body` is the text of a template.' },
);

/** Name of the only template language. */
const TEMPLATE_ENGINE = 'Kriti';

const common = {
  version: defaulted<TransformVersion>(version, () => 1),
  templateEngine: defaulted(literal('TemplateEngine', [TEMPLATE_ENGINE]), () => TEMPLATE_ENGINE),
};
const body: Codec<Json> = leaf(
  'BodyTransform',
  (json) => json,
  (value) => value,
  {
    description:
      'In version 1, the text of a template. In version 2, one of `{"action": "remove"}`, `{"action": "transform", "template": …}` and `{"action": "x_www_form_urlencoded", "form_template": {…}}` with a template for each key.',
  },
);
const writtenRequest = object('RequestTransform', {
  ...common,
  method: optional(method),
  url: optional(text),
  queryParams: optional(queryParams),
  requestHeaders: optional(headers),
  body: optional(body),
});
const writtenResponse = object('ResponseTransform', { ...common, body: optional(body) });

/** @throws SvcError `parse-failed`; templates are not parsed */
export const requestTransformCodec: Codec<RequestTransform> = leaf(
  writtenRequest.name,
  (json, path) => {
    const { templateEngine: _, body: bodyJson, ...rest } = writtenRequest.decode(json, path);
    if (bodyJson === undefined) return rest as RequestTransform;
    return { ...rest, body: decodeBody(bodyJson, rest.version, at(path, 'body')) } as RequestTransform;
  },
  ({ body: decoded, ...rest }) =>
    writtenRequest.encode({
      ...rest,
      templateEngine: TEMPLATE_ENGINE,
      ...(decoded === undefined ? {} : { body: encodeBody(decoded, rest.version) }),
    }),
  like(writtenRequest),
);

/** @throws SvcError `parse-failed`; templates are not parsed */
export const responseTransformCodec: Codec<ResponseTransform> = leaf(
  writtenResponse.name,
  (json, path) => {
    const { version: decodedVersion, body: bodyJson } = writtenResponse.decode(json, path);
    if (bodyJson === undefined) return { version: decodedVersion };
    return { version: decodedVersion, body: decodeBody(bodyJson, decodedVersion, at(path, 'body')) };
  },
  ({ version: decodedVersion, body: decoded }) =>
    writtenResponse.encode({
      version: decodedVersion,
      templateEngine: TEMPLATE_ENGINE,
      ...(decoded === undefined ? {} : { body: encodeBody(decoded, decodedVersion) }),
    }),
  like(writtenResponse),
);
