/** `svc serve --project`: deploys a project before the service becomes healthy. */
import { metadataKinds } from '../app/metadata-kinds.ts';
import { adminSecretsOf } from '../config/access.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/options.ts';
import type { Logger } from '../observability/logger.ts';
import { EXIT, printProblem, ProjectFailure } from '../project/failure.ts';
import type { EndpointSettings } from '../project/endpoint-failure.ts';
import { openProject, type Project, type Settings } from '../project/project.ts';
import { serverClient } from '../project/server-client.ts';
import { deploy } from './run/deploy.ts';

const LOCK_TIMEOUT_MS = 600_000;

export interface OwnAddress {
  /** With the secret path of the tasks at start. */
  readonly url: string;
  /** For messages. */
  readonly shown: string;
}

/**
 * Deploys a project to the service itself; instances that start at the same time do so one after another.
 * @param config names the project, or the folders of its parts
 * @throws ConfigError if the project cannot be deployed
 */
export async function deployAtStart(config: Config, { url, shown }: OwnAddress, logger: Logger): Promise<void> {
  const { project: projectFolder, projectEnvironment, metadataDir, migrationsDir } = config;
  const folder = projectFolder ?? metadataDir;
  if (folder === null)
    throw new ConfigError(
      '--migrations-dir (SVC_GRAPHQL_MIGRATIONS_DIR) needs --metadata-dir or --project: migrations belong to sources of the metadata',
    );
  const redacted = (text: string): string => text.replaceAll(url, shown);
  const log = (message: string): void => logger.observe({ kind: 'startup', message: 'project', info: { message: redacted(message) } });
  const warn = (warning: string): void => logger.observe({ kind: 'startup', message: 'project', info: { warning: redacted(warning) } });
  try {
    // The project is deployed to this service, whatever endpoint its configuration names.
    const flags = {
      project: folder,
      env: projectEnvironment ?? undefined,
      metadataFolder: metadataDir ?? undefined,
      migrationsFolder: migrationsDir ?? undefined,
    };
    const project = openProject(process.cwd(), flags, { SVC_GRAPHQL_ENDPOINT: undefined }, false);
    for (const warning of [...project.warnings, ...unchosenEnvironment(project)]) warn(warning);
    const [adminSecret = null] = adminSecretsOf(config);
    const server = serverClient({ ...project.settings, ...ownEndpoint(url, adminSecret) });
    try {
      const outcome = await deploy({
        project,
        server,
        kinds: metadataKinds,
        options: {
          skipExecution: false,
          withoutTransaction: false,
          singleTransaction: false,
          lockTimeoutMs: LOCK_TIMEOUT_MS,
          limits: {},
          report: log,
        },
        withSeeds: false,
        once: false,
        allowInconsistent: false,
        allowChanged: false,
        unlessNewer: true,
        progress: log,
        warn,
      });
      if ((outcome.exit ?? EXIT.done) !== EXIT.done) throw new ProjectFailure(outcome.problems ?? []);
      (outcome.data?.['newer'] === undefined ? log : warn)(outcome.text ?? '');
    } finally {
      await server.close();
    }
  } catch (thrown) {
    if (thrown instanceof ProjectFailure)
      throw new ConfigError(`the project ${folder} cannot be deployed:\n${redacted(thrown.problems.map(printProblem).join('\n'))}`);
    throw thrown;
  }
}

function unchosenEnvironment({ unchosen }: Project): readonly string[] {
  if (unchosen.length === 0) return [];
  return [`the overlays of ${unchosen.join(', ')} are not applied: choose an environment with --env or SVC_GRAPHQL_ENV`];
}

/** Settings of a client for the service of this process. */
export function ownEndpoint(url: string, adminSecret: string | null): EndpointSettings & Pick<Settings, 'paths'> {
  return { endpoint: url, endpointOrigin: 'this service', adminSecret, adminSecretOrigin: 'of this service', paths: OWN_PATHS };
}

/** API paths of a service without a proxy in front of it. */
const OWN_PATHS = {
  metadata: 'v1/metadata',
  query: 'v2/query',
  graphql: 'v1/graphql',
  version: 'v1/version',
  config: 'v1alpha1/config',
} as const;
