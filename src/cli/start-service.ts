import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProvidedDatabases, provideDatabases } from '../embedded-postgres/embedded-source.ts';
import { trackSampleData } from '../embedded-postgres/sample-data.ts';
import { type Service, type ServeOptions, serve } from '../app/serve.ts';
import { serviceLogger } from '../app/service-logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Observation } from '../observability/observation.ts';
import { startWarmUp, type WarmUp } from '../app/warm-up/warm-up.ts';
import { adminSecretsOf } from '../config/access.ts';
import type { Config } from '../config/options.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { collectWhenIdle } from './idle-collection.ts';
import { stopOnSignals } from './signals.ts';

export interface RunningService {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  readonly config: Config;
  readonly readCatalogs: Service['readCatalogs'];
  readonly onMetadata: Service['onMetadata'];
}

export interface StartOptions extends Pick<ServeOptions, 'isDeployed' | 'onSql'> {
  /** Returns whether an event is logged. Called before the log is written. Defaults to all. */
  readonly filter?: (observation: Observation) => boolean;
}

function filtered(logger: Logger, filter: StartOptions['filter']): Logger {
  if (filter === undefined) return logger;
  const observe = (observation: Observation): void => {
    if (filter(observation)) logger.observe(observation);
  };
  return { ...logger, observe };
}

/** Maximum time that a stop waits for an unfinished start, in ms. */
const START_TIMEOUT_MS = 3000;

/**
 * Starts the databases, then the service, and stops them in reverse order on SIGINT, SIGTERM or an uncaught error.
 * @throws Error if the service cannot start; nothing is left running
 */
export async function startService(config: Config, options: StartOptions = {}): Promise<RunningService> {
  boundHeapGrowth();
  collectWhenIdle();
  const { filter, ...serveOptions } = options;
  const logger = filtered(serviceLogger(config, process.env), filter);
  let databases: ProvidedDatabases | undefined;
  let service: Service | undefined;
  let warmUp: WarmUp | undefined;

  const start = async (): Promise<RunningService> => {
    databases = await provideDatabases(config, (message) =>
      logger.observe({ kind: 'startup', message: 'embedded_postgres', info: { message } }),
    );
    const complete: Config = { ...config, databaseUrl: databases.databaseUrl, metadataDatabaseUrl: databases.metadataDatabaseUrl };
    const deploys = [config.project, config.metadataDir, config.migrationsDir].some((folder) => folder !== null);
    let isReady = !deploys;
    const startPath = `/${randomUUID()}`;
    const started = await serve(complete, { ...serveOptions, logger, isReady: () => isReady, startPath });
    service = started;
    if (deploys) {
      const { deployAtStart } = await import('./deploy-at-start.ts');
      await deployAtStart(complete, { shown: started.url, url: `${started.url}${startPath}` }, logger);
      isReady = true;
    }
    if (databases.hasSampleData) await trackSampleData(`${started.url}${startPath}`, adminSecretsOf(config)[0] ?? null);
    started.endStart();
    warmUp = startWarmUp();
    warmUp.done.catch((error: unknown) => logger.observe({ kind: 'unexpected', message: 'the warm-up failed', error }));
    return {
      url: started.url,
      config: complete,
      readCatalogs: started.readCatalogs,
      onMetadata: (listener) => started.onMetadata(listener),
    };
  };
  const stop = async (): Promise<void> => {
    warmUp?.stop();
    try {
      await service?.stop();
    } finally {
      await databases?.stop();
      await logger.settle();
      logger.flush();
    }
  };

  const starting = start();
  const release = stopOnSignals({
    async stop() {
      await Promise.race([starting.catch(() => undefined), sleep(START_TIMEOUT_MS)]);
      await stop();
    },
    abandon() {
      // The database stops by itself after the signal.
      void databases?.stop();
      logger.flush();
    },
    failed: (message, error) => logger.observe({ kind: 'unexpected', message, error }),
  });
  try {
    return await starting;
  } catch (error) {
    release();
    await stop();
    throw error;
  }
}
