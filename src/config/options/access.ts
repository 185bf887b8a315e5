/** Authentication, and what administrators may do. */
import { jwtSecret, jwtSecrets } from '../jwt-secret.ts';
import { optionsOf } from '../option.ts';
import { boolean, type HookMethod, httpMethod, httpUrl, nonEmpty, orNull, prefixList, secret, secretList } from '../option-types.ts';

const access = optionsOf('Access');

export const accessOptions = {
  adminSecret: access(
    'admin-secret',
    orNull(secret),
    null,
    'Admin secret. Requests that send it have full access. If no admin secret is set, all requests have full access.',
  ),
  adminSecrets: access('admin-secrets', orNull(secretList), null, 'JSON list of admin secrets, instead of --admin-secret.'),
  accessKey: access('access-key', orNull(secret), null, 'Older name of --admin-secret, which takes precedence.'),
  metricsSecret: access('metrics-secret', orNull(secret), null, 'Bearer token for /v1/metrics. Defaults to the admin secrets.'),
  authHook: access(
    'auth-hook',
    orNull(httpUrl),
    null,
    'URL of the authentication webhook for requests without an admin secret. Needs an admin secret.',
  ),
  authHookMode: access(
    'auth-hook-mode',
    httpMethod,
    'GET' as HookMethod,
    'Method of the authentication webhook: headers (GET) or a JSON body (POST).',
    {
      olderEnv: 'AUTH_HOOK_TYPE',
    },
  ),
  authHookSendRequestBody: access(
    'auth-hook-send-request-body',
    boolean,
    true,
    'Send the GraphQL request to the authentication webhook, in POST mode.',
  ),
  jwtSecret: access(
    'jwt-secret',
    orNull(jwtSecret),
    null,
    'JSON object that configures JWT verification: type and key, or jwk_url. Needs an admin secret.',
  ),
  jwtSecrets: access('jwt-secrets', orNull(jwtSecrets), null, 'JSON list of JWT configurations, instead of --jwt-secret.'),
  unauthorizedRole: access(
    'unauthorized-role',
    orNull(nonEmpty),
    null,
    'Role of requests without credentials, which are rejected otherwise. Needs an admin secret; cannot be combined with --auth-hook.',
  ),
  sessionPrefixAliases: access(
    'session-prefix-aliases',
    prefixList,
    [] as readonly string[],
    'Comma-separated list of further prefixes of session variables, such as x-hasura-. Request headers, JWT claims and webhook responses may use them instead of x-svc-; functions, triggers, actions and events receive each variable under all prefixes. For migrating clients and SQL.',
  ),
  refusePrivateAddresses: access(
    'refuse-private-addresses',
    boolean,
    false,
    'Never send requests to private IP addresses. Link-local addresses and metadata services of clouds are always refused.',
  ),
  adminInternalErrors: access('admin-internal-errors', boolean, true, 'Show internal details of errors to administrators.'),
  devMode: access('dev-mode', boolean, false, 'Show internal details of errors to all clients. Not for production.'),
  preserve401Errors: access(
    'preserve-401-errors',
    boolean,
    false,
    'Respond with status 401 instead of 200 on /v1/graphql if authentication fails.',
  ),
  metadataReadOnly: access(
    'metadata-read-only',
    boolean,
    false,
    'Reject metadata changes, and SQL of administrators that is not read-only. Does not affect GraphQL, nor the deployment of --project at the start.',
  ),
  disableRunSql: access(
    'disable-run-sql',
    boolean,
    false,
    "Reject run_sql for every kind of database, and plan_changes with SQL. Without this option, holders of an admin secret have all privileges of the service's database role. Migrations need run_sql, except those that --project deploys at the start.",
  ),
  disableIntrospection: access(
    'disable-introspection',
    boolean,
    false,
    'Allow introspection (__schema, __type, _service) for administrators only. Errors for other roles then list no enum values. Otherwise the metadata can disable introspection per role.',
  ),
} as const;
