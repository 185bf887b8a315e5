/** A project directory: its root, its configuration, and the places of its parts. */
import { dirname, join, resolve } from 'node:path';
import { parse as parseDotEnv } from 'dotenv';
import { projectVariable } from '../config/project-variables.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf, parseJson } from '../util/json.ts';
import { nearest } from '../model/nearest.ts';
import { type Files, projectFiles, readNamedFile } from './directory/files.ts';
import { MetadataReader, type MetadataFolder } from './directory/read-metadata.ts';
import { MAX_INCLUDED_BYTES } from './directory/reading-limits.ts';
import { EXIT, failure, ProjectFailure } from './failure.ts';

export const CONFIG_FILE = 'config.yaml';
export const DEFAULT_ENDPOINT = 'http://localhost:8080';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the variable for the embedded PostgreSQL of a project, which is in the folder of the project wherever a command runs. */
export function dataFolderOf(root: string): Environment {
  return { SVC_GRAPHQL_DATA_DIR: join(root, '.svc') };
}

export interface Project {
  readonly root: string;
  readonly files: Files;
  readonly metadata: MetadataFolder;
  readonly migrationsFolder: string;
  readonly seedsFolder: string;
  readonly settings: Settings;
  /** Variables of the process, and those of the project's `.env` or `--envfile`; the process takes precedence. */
  readonly environment: Environment;
  /** Variables of the project's `.env` or `--envfile` alone. */
  readonly ownEnvironment: Environment;
  readonly warnings: readonly string[];
  /** Environments that have overlays, if none is chosen. */
  readonly unchosen: readonly string[];
}

export interface Settings {
  readonly endpoint: string;
  /** Setting that the endpoint comes from, for messages. */
  readonly endpointOrigin: string;
  /** False if the endpoint is the default, or that of config.yaml for all environments: a command that can do without a service then does. */
  readonly namesService: boolean;
  /** Environment of config.yaml that the endpoint comes from; `null` if it has another origin. */
  readonly endpointEnvironment: string | null;
  readonly adminSecret: string | null;
  /** Setting that the admin secret comes from, for messages; the variable to set if there is none. */
  readonly adminSecretOrigin: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly certificateAuthority: string | null;
  readonly interactive: boolean;
  readonly paths: ApiPaths;
  readonly actions: {
    readonly kind: string;
    readonly handlerBaseUrl: string;
    readonly codegen: { readonly framework: string; readonly outputDir: string };
  };
}

export interface ApiPaths {
  readonly metadata: string;
  readonly query: string;
  readonly graphql: string;
  readonly version: string;
  readonly config: string;
}

/** Command-line flags; `undefined` if absent. */
export interface ProjectFlags {
  readonly project?: string | undefined;
  readonly envfile?: string | undefined;
  readonly env?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly adminSecret?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly certificateAuthority?: string | undefined;
  /** Replaces the folder of the project; may lie outside of it. */
  readonly metadataFolder?: string | undefined;
  readonly migrationsFolder?: string | undefined;
}

export const CONFIG_KEYS = [
  'version',
  'endpoint',
  'admin_secret',
  'admin_secrets',
  'access_key',
  'insecure_skip_tls_verify',
  'certificate_authority',
  'disable_interactive',
  'metadata_directory',
  'migrations_directory',
  'seeds_directory',
  'metadata_file',
  'api_paths',
  'actions',
  'environments',
] as const;
export const API_PATHS = ['query', 'v1_query', 'v2_query', 'v1_metadata', 'graphql', 'config', 'pg_dump', 'version'] as const;

/** Returns the nearest folder, from here upwards, with a `config.yaml`. */
function findRoot(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (projectFiles(folder).read(join(folder, CONFIG_FILE), MAX_INCLUDED_BYTES) !== undefined) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/**
 * Opens the project of a folder. Precedence of settings: flags, environment, `.env`, config.yaml, defaults.
 * @param needed false to use a folder without a config.yaml as a project without settings
 * @throws ProjectFailure
 */
export function openProject(cwd: string, flags: ProjectFlags, environment: Environment, needed = true): Project {
  const named = flags.project === undefined ? undefined : resolve(cwd, flags.project);
  const root = named ?? findRoot(cwd) ?? cwd;
  const files = projectFiles(root);
  const reader = new MetadataReader(files);
  const read = reader.read(join(root, CONFIG_FILE));
  if (read === undefined && needed) {
    const message = `there is no ${CONFIG_FILE} in ${named ?? `${cwd} or above it`}: create a project with svc init, or name its folder with --project`;
    throw failure('no-project', message, {}, EXIT.usage);
  }
  if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
  const written = objectOf(read);
  const warnings = unknownKeys(written, CONFIG_KEYS, CONFIG_FILE);
  const { version } = written;
  if (version !== undefined && version !== 3) {
    const message = `the project has version ${String(version)}: convert it to version 3 with svc import`;
    throw failure('version', message, { file: CONFIG_FILE });
  }
  const dotEnv = dotEnvOf(files, flags.envfile === undefined ? undefined : resolve(cwd, flags.envfile));
  const merged = { ...dotEnv, ...environment };
  const chosen = flags.env ?? merged[projectVariable('env')] ?? '';
  const stage = stageOf(written, chosen);
  warnings.push(...unknownKeys(stage, STAGE_KEYS, `${CONFIG_FILE}: environments`));
  const settings = settingsOf({ written, stage, flags, environments: { process: environment, dotEnv, merged }, warnings });
  const inside = (key: 'metadata_directory' | 'migrations_directory' | 'seeds_directory' | 'metadata_file', name: string): string => {
    const path = resolve(root, name);
    if (!files.isInside(path)) throw failure('outside', `${key} is outside of the project`, { file: CONFIG_FILE });
    return path;
  };
  const set = (key: Parameters<typeof inside>[0]): string | undefined => text(merged[projectVariable(key)]) ?? text(written[key]);
  const folder = (key: Parameters<typeof inside>[0], byDefault: string): string => inside(key, set(key) ?? byDefault);
  const file = set('metadata_file');
  const overlays = overlaysOf(stage, root, files);
  const metadataFolder = flags.metadataFolder === undefined ? undefined : resolve(cwd, flags.metadataFolder);
  if (metadataFolder !== undefined && overlays.length > 0) {
    const message = `the environment "${chosen}" has overlays, which apply to the metadata of the project only, not to ${metadataFolder}`;
    throw failure('config', message, { file: CONFIG_FILE }, EXIT.usage);
  }
  return {
    root,
    files,
    metadata:
      metadataFolder === undefined
        ? {
            files,
            folder: folder('metadata_directory', 'metadata'),
            file: file === undefined ? undefined : inside('metadata_file', file),
            overlays,
          }
        : { files: files.isInside(metadataFolder) ? files : projectFiles(metadataFolder), folder: metadataFolder },
    migrationsFolder:
      flags.migrationsFolder === undefined ? folder('migrations_directory', 'migrations') : resolve(cwd, flags.migrationsFolder),
    seedsFolder: folder('seeds_directory', 'seeds'),
    settings,
    environment: merged,
    ownEnvironment: dotEnv,
    warnings,
    unchosen: chosen === '' ? withOverlays(written) : [],
  };
}

function unknownKeys(object: JsonObject, known: readonly string[], where: string): string[] {
  return Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const meant = nearest(key, known);
      return `${where}: unknown key "${key}"${meant === undefined ? '' : `, did you mean "${meant}"?`}`;
    });
}

function dotEnvOf(files: Files, named: string | undefined): Environment {
  const content = named === undefined ? files.read(join(files.root, '.env')) : readNamedFile(files.root, named);
  if (content === undefined && named !== undefined)
    throw failure('missing-file', `the file ${named} (--envfile) does not exist`, {}, EXIT.usage);
  return content === undefined ? {} : parseDotEnv(content);
}

function stageOf(written: JsonObject, name: string): JsonObject {
  if (name === '') return {};
  const stages = objectOf(written['environments']);
  const stage = stages[name];
  if (isJsonObject(stage)) return stage;
  const known = Object.keys(stages);
  throw failure(
    'config',
    `there is no environment "${name}"${known.length === 0 ? '' : `: choose one of ${known.join(', ')}`}`,
    { file: CONFIG_FILE },
    EXIT.usage,
  );
}

function withOverlays(written: JsonObject): readonly string[] {
  return Object.entries(objectOf(written['environments'])).flatMap(([name, stage]) =>
    isJsonObject(stage) && stage['overlays'] !== undefined ? [name] : [],
  );
}

export const STAGE_KEYS = ['endpoint', 'admin_secret', 'overlays'] as const;

/** Returns the absolute paths of the overlays of a stage. @throws ProjectFailure */
function overlaysOf(stage: JsonObject, root: string, files: Files): readonly string[] {
  const overlays = stage['overlays'] ?? [];
  const list = isJsonArray(overlays) ? overlays : [overlays];
  return list.map((name) => {
    if (typeof name !== 'string' || name === '') throw failure('config', 'overlays must be a list of files', { file: CONFIG_FILE });
    const path = resolve(root, name);
    if (!files.isInside(path)) throw failure('outside', `the overlay "${name}" is outside of the project`, { file: CONFIG_FILE });
    return path;
  });
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function flag(value: Json | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value === '') return undefined;
  return /^(?:true|t|yes|y|1)$/i.test(value);
}

/** Names of variables of the process that a project may use as its secret; variables for other purposes have other names. */
const SECRET_NAME = /ADMIN_SECRETS?$/;
/** Names of this machine, which only it can reach. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

interface Environments {
  readonly process: Environment;
  /** Variables of the project's `.env`, or of `--envfile`. */
  readonly dotEnv: Environment;
  /** Both; the process takes precedence. */
  readonly merged: Environment;
}

/** Files, flags and variables from which the settings are read. */
interface SettingsInput {
  readonly written: JsonObject;
  readonly stage: JsonObject;
  readonly flags: ProjectFlags;
  readonly environments: Environments;
  /** Collects warnings. */
  readonly warnings: string[];
}

/** @throws ProjectFailure */
function settingsOf(input: SettingsInput): Settings {
  const { written, flags, environments } = input;
  const { merged } = environments;
  const endpoint = endpointOf(input);
  return {
    ...endpoint.settings,
    ...adminSecretOf(input, endpoint),
    insecureSkipTlsVerify:
      flags.insecureSkipTlsVerify ??
      flag(merged[projectVariable('insecure_skip_tls_verify')]) ??
      flag(written['insecure_skip_tls_verify']) ??
      false,
    certificateAuthority:
      flags.certificateAuthority ??
      text(merged[projectVariable('certificate_authority')]) ??
      text(written['certificate_authority']) ??
      null,
    interactive: !(flag(merged[projectVariable('disable_interactive')]) ?? flag(written['disable_interactive']) ?? false),
    paths: pathsOf(input),
    actions: actionsOf(written),
  };
}

interface ChosenEndpoint {
  readonly settings: Pick<Settings, 'endpoint' | 'endpointOrigin' | 'namesService' | 'endpointEnvironment'>;
  /** True if the user names it, rather than the files of the project. */
  readonly isNamed: boolean;
  /** True if the user chooses the environment of config.yaml that it comes from. */
  readonly isChosen: boolean;
}

function endpointOf({ written, stage, flags, environments: { process: own, dotEnv, merged }, warnings }: SettingsInput): ChosenEndpoint {
  const variable = projectVariable('endpoint');
  const named = flags.endpoint ?? text(own[variable]);
  // The .env of a project is for every environment; one with an endpoint of its own never gets another one from there.
  const isOfStage = text(stage['endpoint']) !== undefined && flags.envfile === undefined;
  const ofEveryStage = isOfStage ? undefined : text(dotEnv[variable]);
  const ofProject = ofEveryStage ?? text(stage['endpoint']) ?? text(written['endpoint']) ?? DEFAULT_ENDPOINT;
  const { origin = 'the default' } = firstSet([
    ['--endpoint', () => flags.endpoint],
    [variable, () => text(own[variable])],
    [`${variable} in .env`, () => ofEveryStage],
    [CONFIG_FILE, () => text(stage['endpoint']) ?? text(written['endpoint'])],
  ]);
  const variableOfEnv = projectVariable('env');
  return {
    settings: {
      endpoint: baseUrl(named ?? ofProject, warnings),
      endpointOrigin: origin,
      namesService: (named ?? ofEveryStage ?? text(stage['endpoint'])) !== undefined,
      endpointEnvironment:
        named === undefined && ofProject === stage['endpoint'] ? (flags.env ?? text(merged[variableOfEnv]) ?? null) : null,
    },
    isNamed: named !== undefined,
    isChosen: (flags.env ?? text(own[variableOfEnv])) !== undefined && ofProject === stage['endpoint'],
  };
}

function adminSecretOf(input: SettingsInput, endpoint: ChosenEndpoint): Pick<Settings, 'adminSecret' | 'adminSecretOrigin'> {
  const { written, stage, flags, environments, warnings } = input;
  if ([stage['admin_secret'], written['admin_secret'], written['access_key']].some((value) => text(value) !== undefined))
    warnings.push(
      `${CONFIG_FILE}: the file contains the admin secret; move it to .env, and write admin_secret: {from_env: SVC_GRAPHQL_ADMIN_SECRET}`,
    );
  const fromFile = (value: Json | undefined): Candidate => [
    isJsonObject(value) ? `${String(value['from_env'])}, named by ${CONFIG_FILE}` : CONFIG_FILE,
    () => {
      if (!isJsonObject(value)) return text(value);
      const name = secretVariable(value);
      if (name === undefined) throw failure('config', 'a secret must have the form {from_env: NAME}', { file: CONFIG_FILE });
      return sentSecret(name, environments.dotEnv, input, endpoint);
    },
  ];
  // The .env of a project is for every environment; an environment with a secret of its own never gets another one from there.
  const hasOwn = stage['admin_secret'] !== undefined && flags.envfile === undefined;
  const fromVariable = (name: string): string | undefined => sentSecret(name, hasOwn ? {} : environments.dotEnv, input, endpoint);
  const [one, list] = [projectVariable('admin_secret'), projectVariable('admin_secrets')];
  const ofProject: readonly Candidate[] = [
    [CONFIG_FILE, () => firstOf(text(written['admin_secrets']))],
    fromFile(written['admin_secret']),
    fromFile(written['access_key']),
  ];
  const { value = null, origin = secretVariable(stage['admin_secret'] ?? written['admin_secret']) ?? one } = firstSet([
    ['--admin-secret', () => flags.adminSecret],
    [list, () => firstOf(fromVariable(list))],
    [one, () => fromVariable(one)],
    fromFile(stage['admin_secret']),
    ...(hasOwn ? [] : ofProject),
  ]);
  return { adminSecret: value, adminSecretOrigin: origin };
}

/**
 * Returns the value of a variable that may be sent to the endpoint as its secret: the user may not be the author of the project, whose files
 * choose both the variable and the address.
 * @param fallback variables of the project's own file
 */
function sentSecret(
  name: string,
  fallback: Environment,
  { environments, warnings }: SettingsInput,
  { settings: { endpoint }, isNamed, isChosen }: ChosenEndpoint,
): string | undefined {
  const value = text(environments.process[name]);
  const ofFile = text(fallback[name]);
  if (value === undefined) return ofFile;
  const isTrusted = isChosen || LOOPBACK.test(new URL(endpoint).hostname);
  if (isNamed || (isTrusted && SECRET_NAME.test(name))) return value;
  const reason = SECRET_NAME.test(name)
    ? `${endpoint} comes from the project only. Set --endpoint or SVC_GRAPHQL_ENDPOINT, choose an environment with --env, or write the secret to .env`
    : 'its name does not end with ADMIN_SECRET. Rename it, or set --endpoint';
  if (ofFile === undefined) warnings.push(`the environment variable ${name} is not sent as admin secret: ${reason}`);
  return ofFile;
}

function pathsOf({ written, environments: { merged }, warnings }: SettingsInput): Settings['paths'] {
  const paths = objectOf(written['api_paths']);
  warnings.push(...unknownKeys(paths, API_PATHS, `${CONFIG_FILE}: api_paths`));
  const path = (key: 'v1_metadata' | 'v2_query' | 'graphql' | 'version' | 'config', byDefault: string): string =>
    (text(merged[projectVariable(`api_paths.${key}`)]) ?? text(paths[key]) ?? byDefault).replace(/^\/+/, '');
  return {
    metadata: path('v1_metadata', 'v1/metadata'),
    query: path('v2_query', 'v2/query'),
    graphql: path('graphql', 'v1/graphql'),
    version: path('version', 'v1/version'),
    config: path('config', 'v1alpha1/config'),
  };
}

function actionsOf(written: JsonObject): Settings['actions'] {
  const actions = objectOf(written['actions']);
  const codegen = objectOf(actions['codegen']);
  return {
    kind: text(actions['kind']) ?? 'synchronous',
    handlerBaseUrl: text(actions['handler_webhook_baseurl']) ?? 'http://localhost:3000',
    codegen: { framework: text(codegen['framework']) ?? 'typescript', outputDir: text(codegen['output_dir']) ?? 'codegen' },
  };
}

function secretVariable(value: Json | undefined): string | undefined {
  return isJsonObject(value) ? text(value['from_env']) : undefined;
}

/** A setting with its origin, read on demand, because reading may warn. */
type Candidate = readonly [origin: string, value: () => string | undefined];

function firstSet(candidates: readonly Candidate[]): { readonly origin?: string; readonly value?: string } {
  for (const [origin, read] of candidates) {
    const value = read();
    if (value !== undefined) return { origin, value };
  }
  return {};
}

function firstOf(list: string | undefined): string | undefined {
  if (list === undefined || list === '') return undefined;
  try {
    const parsed = parseJson(list);
    if (isJsonArray(parsed) && typeof parsed[0] === 'string') return parsed[0];
  } catch {
    // reported below
  }
  throw failure('config', 'admin_secrets must be a JSON list of texts');
}

/** Returns the endpoint without the path of an API, which users often paste. */
function baseUrl(endpoint: string, warnings: string[]): string {
  let url: URL;
  try {
    url = new URL(endpoint);
  } catch {
    throw failure('config', `the endpoint "${endpoint}" is not a URL: write it as in ${DEFAULT_ENDPOINT}`, {}, EXIT.usage);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw failure('config', `the endpoint "${endpoint}" is not an HTTP URL: write it as in ${DEFAULT_ENDPOINT}`, {}, EXIT.usage);
  const bare = url.pathname.replace(
    /\/(?:v1\/graphql|v1(?:beta1)?\/relay|v1alpha1\/[^/]*|v1\/metadata|v1\/query|v2\/query|v1\/version|healthz|console(?:\/.*)?)\/?$/,
    '',
  );
  if (bare !== url.pathname) warnings.push(`the endpoint has the path of an API: using ${url.origin}${bare} instead`);
  return `${url.origin}${bare}`.replace(/\/+$/, '');
}
