/**
 * The two forms of the document: what the standard asks for, and the form of version 2, which generators were fed with for
 * years although its names of components are not legal and it tells nothing of security, servers and errors.
 */
import type { RestMethod } from '../../metadata/rest-endpoint.ts';
import type { JsonObject } from '../../util/json.ts';

export interface OpenApiForm {
  /** What the document says beside its paths. */
  readonly head: JsonObject;
  readonly version: string;
  readonly components: JsonObject;
  /** Even without endpoints. */
  readonly alwaysPaths: boolean;
  /** Key of the schema that excludes null. */
  notNullKey(name: string): string;
  /** Null in a schema: the standard has it beside a type only, and what has no type takes null. */
  nullable(schema: JsonObject, nullable: boolean): JsonObject;
  /** Of a value in the database's format, where it is not the writer's usual one. */
  scalar(name: string): JsonObject | undefined;
  /** A schema with more keywords: beside a reference they count for nothing. */
  extended(schema: JsonObject, more: JsonObject): JsonObject;
  readonly parameters: readonly JsonObject[];
  /** What an operation says first. */
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
  ['refused', '400', 'The request does not fit, or the role may not do this.'],
  ['unauthenticated', '401', 'The credentials are missing or wrong.'],
  ['notFound', '404', 'There is no such endpoint.'],
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
        bearer: { type: 'http', scheme: 'bearer', description: 'A token, where the service is set up for them.' },
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

/** A name that generators can make a function of. */
function uniqueId(text: string, taken: Set<string>): string {
  const base = text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/_+$/g, '');
  let id = base;
  for (let n = 2; taken.has(id); n++) id = `${base}_${n}`;
  taken.add(id);
  return id;
}
