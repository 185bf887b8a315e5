import { VARIABLE_PREFIX } from './option.ts';

/** Settings of the commands of projects that environment variables may say, by their keys of config.yaml where they have one. */
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

/** The variable of a setting: that of `api_paths.graphql` is `SVC_GRAPHQL_API_PATHS_GRAPHQL`. */
export function projectVariable(setting: ProjectSetting): string {
  return VARIABLE_PREFIX + setting.toUpperCase().replaceAll('.', '_');
}

/** Of all settings: a service may find them in its environment, too, and has no use for them. */
export const PROJECT_VARIABLES: readonly string[] = SETTINGS.map(projectVariable);
