/**
 * The two forms of the OpenAPI document: the standard form, and that of version 2, which generators have relied on for years although its
 * component names are not valid and it has no security, servers or errors.
 */
import type { RestMethod } from '../../metadata/rest-endpoint.ts';
import type { JsonObject } from '../../util/json.ts';

export interface OpenApiForm {
  /** Top-level keys in addition to the paths. */
  readonly head: JsonObject;
  readonly version: string;
  readonly components: JsonObject;
  /** If true, `paths` exists even without endpoints. */
  readonly alwaysPaths: boolean;
  /** Returns the component key of the schema without null. */
  notNullKey(name: string): string;
  /** Adds `nullable`: the standard allows it only beside a type, and a schema without a type accepts null. */
  nullable(schema: JsonObject, nullable: boolean): JsonObject;
  /** Returns the schema of a scalar if it differs from the writer's default. */
  scalar(name: string): JsonObject | undefined;
  /** Adds keywords to a schema: beside a reference they would be ignored. */
  extended(schema: JsonObject, more: JsonObject): JsonObject;
  readonly parameters: readonly JsonObject[];
  /** Returns the first keys of an operation. */
  operation(name: string, method: RestMethod): JsonObject;
  readonly failures: JsonObject;
}

const SECRET_HEADER = 'x-svc-admin-secret';

export const VERSION_2: OpenApiForm = {
  head: {},
  version: '',
  components: {},
  alwaysPaths: false,
  notNullKey: (name) => `${name}!`,
  nullable: (schema, nullable) => ({ nullable, ...schema }),
  scalar: () => undefined,
  extended: (schema, more) => ({ ...schema, ...more }),
  parameters: [
    {
      schema: { type: 'string' },
      in: 'header',
      name: SECRET_HEADER,
      description: `Your ${SECRET_HEADER} will be used for authentication of the API request.`,
    },
  ],
  operation: () => ({}),
  failures: {},
};

const FAILURES: readonly (readonly [name: string, status: string, description: string])[] = [
  ['refused', '400', 'The request is invalid, or the role lacks the permission.'],
  ['unauthenticated', '401', 'The credentials are missing or wrong.'],
  ['notFound', '404', 'The endpoint does not exist.'],
];

/** OpenAPI 3.0.3. @param product the service's version */
export function standardForm(product: string): OpenApiForm {
  const ids = new Set<string>();
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/svc.error' } } };
  return {
    head: { servers: [{ url: '/', description: 'This service' }], security: [{ adminSecret: [] }, { bearer: [] }] },
    version: product === '' ? '0' : product,
    components: {
      // GraphQL names have no dots, so these names are free.
      schemas: {
        'svc.error': {
          type: 'object',
          required: ['path', 'error', 'code'],
          properties: { path: { type: 'string' }, error: { type: 'string' }, code: { type: 'string' } },
        },
      },
      responses: Object.fromEntries(FAILURES.map(([name, , description]) => [name, { description, content }])),
      securitySchemes: {
        adminSecret: { type: 'apiKey', in: 'header', name: SECRET_HEADER, description: 'The secret of administrators.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'A token, if the service is configured for tokens.' },
      },
    },
    alwaysPaths: true,
    notNullKey: (name) => `${name}.notNull`,
    nullable: (schema, nullable) => (schema['type'] === undefined ? schema : { nullable, ...schema }),
    scalar: (name) => (name === 'uuid' ? { type: 'string', format: 'uuid' } : undefined),
    extended: (schema, more) => {
      if (Object.keys(more).length === 0) return schema;
      return schema['$ref'] === undefined ? { ...schema, ...more } : { allOf: [schema], ...more };
    },
    parameters: [],
    operation: (name, method) => ({ operationId: uniqueId(`${method.toLowerCase()}_${name}`, ids) }),
    failures: Object.fromEntries(FAILURES.map(([name, status]) => [status, { $ref: `#/components/responses/${name}` }])),
  };
}

/** Returns a unique id that generators can use as a function name. */
function uniqueId(text: string, taken: Set<string>): string {
  const base = text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/_+$/g, '');
  let id = base;
  for (let n = 2; taken.has(id); n++) id = `${base}_${n}`;
  taken.add(id);
  return id;
}
