import { VARIABLE_PREFIX } from './option.ts';

/** Settings of project commands that have an environment variable, named by their key in config.yaml. */
const SETTINGS = [
  'env',
  'database_name',
  'endpoint',
  'admin_secret',
  'admin_secrets',
  'insecure_skip_tls_verify',
  'certificate_authority',
  'disable_interactive',
  'metadata_directory',
  'migrations_directory',
  'seeds_directory',
  'metadata_file',
  'api_paths.v1_metadata',
  'api_paths.v2_query',
  'api_paths.graphql',
  'api_paths.version',
  'api_paths.config',
] as const;

export type ProjectSetting = (typeof SETTINGS)[number];

/** Returns `SVC_GRAPHQL_API_PATHS_GRAPHQL` for `api_paths.graphql`. */
export function projectVariable(setting: ProjectSetting): string {
  return VARIABLE_PREFIX + setting.toUpperCase().replaceAll('.', '_');
}

/** Variables of all project settings. Some of them are options of the service too. */
export const PROJECT_VARIABLES: readonly string[] = SETTINGS.map(projectVariable);
