import { type Codec, leaf, list, literal, nonEmptyText, nullable, object, defaulted, parseFailed, required, text } from './codec.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export const REST_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;
export type RestMethod = (typeof REST_METHODS)[number];

/** A URL below `/api/rest/` that runs a query of a collection. */
export interface RestEndpoint extends WithUnknownKeys {
  readonly name: string;
  /** Path as written: `author/:id`. */
  readonly url: string;
  /** Distinct, in the order of the document. */
  readonly methods: readonly RestMethod[];
  readonly definition: { readonly query: QueryReference };
  readonly comment: string | null;
}

export interface QueryReference {
  readonly collectionName: string;
  readonly queryName: string;
}

const methodsCodec: Codec<readonly RestMethod[]> = leaf(
  'EndpointMethods',
  (json, path) => {
    const methods = list(literal('EndpointMethod', REST_METHODS)).decode(json, path);
    if (methods.length === 0) throw parseFailed('an endpoint needs at least one method', path);
    return [...new Set(methods)];
  },
  (methods) => [...methods],
  { description: 'A non-empty list of methods.', values: REST_METHODS },
);

const referenceCodec: Codec<QueryReference> = object('QueryReference', {
  collectionName: required(nonEmptyText),
  queryName: required(nonEmptyText),
});

/** Entry of `rest_endpoints`, and the arguments of `create_rest_endpoint`. */
export const restEndpointCodec: Codec<RestEndpoint> = object('CreateEndpoint', {
  name: required(nonEmptyText),
  url: required(nonEmptyText),
  methods: required(methodsCodec),
  definition: required(object('EndpointDef', { query: required(referenceCodec) })),
  comment: defaulted<string | null>(nullable(text), () => null),
});
