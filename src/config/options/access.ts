/** Who may do what. */
import { jwtSecret, jwtSecrets } from '../jwt-secret.ts';
import { optionsOf } from '../option.ts';
import { boolean, type HookMethod, httpMethod, httpUrl, nonEmpty, optional, prefixList, secret, secretList } from '../option-types.ts';

const access = optionsOf('Access');

export const accessOptions = {
  adminSecret: access('admin-secret', optional(secret), null, 'Secret that makes a request an administrator. Absent: everybody is one.'),
  adminSecrets: access('admin-secrets', optional(secretList), null, 'JSON list of such secrets, in place of --admin-secret.'),
  accessKey: access('access-key', optional(secret), null, 'Older name of --admin-secret, which wins over it.'),
  metricsSecret: access(
    'metrics-secret',
    optional(secret),
    null,
    'Secret of /v1/metrics, sent as a bearer token. Absent: an admin secret, where there is one.',
  ),
  authHook: access(
    'auth-hook',
    optional(httpUrl),
    null,
    'URL of the webhook that says who a request without admin secret is. Needs an admin secret.',
  ),
  authHookMode: access('auth-hook-mode', httpMethod, 'GET' as HookMethod, 'Whether the webhook gets headers (GET) or a JSON body (POST).', {
    olderEnv: 'AUTH_HOOK_TYPE',
  }),
  authHookSendRequestBody: access(
    'auth-hook-send-request-body',
    boolean,
    true,
    'Put the GraphQL request into the JSON body that the webhook gets in POST mode.',
  ),
  jwtSecret: access(
    'jwt-secret',
    optional(jwtSecret),
    null,
    'How to verify the JSON web tokens of requests without admin secret: an object with type and key, or jwk_url. Needs an admin secret.',
  ),
  jwtSecrets: access('jwt-secrets', optional(jwtSecrets), null, 'JSON list of such objects, in place of --jwt-secret.'),
  unauthorizedRole: access(
    'unauthorized-role',
    optional(nonEmpty),
    null,
    'Role of requests without credentials. Absent: they are refused. Needs an admin secret; not with --auth-hook.',
  ),
  sessionPrefixAliases: access(
    'session-prefix-aliases',
    prefixList,
    [] as readonly string[],
    'Other prefixes of session variables, such as x-hasura-: headers, claims of tokens and answers of the webhook count under them as under x-svc-, and what functions, triggers, actions and events are given names each variable both ways. For the time in which clients and SQL still speak them.',
  ),
  refusePrivateAddresses: access(
    'refuse-private-addresses',
    boolean,
    false,
    'Call no webhook or other service on an address that is not public. Link-local addresses and the metadata services of clouds are never called.',
  ),
  adminInternalErrors: access('admin-internal-errors', boolean, true, 'Put internal details into the errors that administrators see.'),
  devMode: access('dev-mode', boolean, false, 'Put internal details into the errors that everybody sees.'),
  preserve401Errors: access(
    'preserve-401-errors',
    boolean,
    false,
    'Keep status 401 on /v1/graphql when the credentials are refused, in place of 200.',
  ),
  metadataReadOnly: access(
    'metadata-read-only',
    boolean,
    false,
    'Refuse every operation that changes the metadata, and SQL of administrators that is not read-only, for everybody. What --project deploys at the start, and GraphQL, are not meant.',
  ),
  disableRunSql: access(
    'disable-run-sql',
    boolean,
    false,
    'Refuse run_sql of every kind of database, and plan_changes with SQL, for everybody: with it, whoever has an admin secret has all that the role of the service may do in the database. Migrations need it; those that --project deploys at the start are not meant.',
  ),
  disableIntrospection: access(
    'disable-introspection',
    boolean,
    false,
    'Answer __schema, __type and _service to administrators only, and list no enum values in errors to others. Without it, the metadata names the roles for which this is so.',
  ),
} as const;
