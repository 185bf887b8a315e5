import { isIP } from 'node:net';
import { ADMIN_ROLE } from '../auth/session.ts';
import { adminSecretsOf, jwtSecretsOf } from '../config/access.ts';
import { hidePassword, httpUrl } from '../config/option-types.ts';
import type { Config } from '../config/options.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** Summary of the start for the log: addresses, databases, and who has access. */
export interface StartSummary extends Readonly<Record<string, unknown>> {
  readonly url: string;
  /** URL of the console, if it is served. */
  readonly console?: string;
  readonly databases: readonly string[];
  readonly metadata: string;
  readonly open_to: readonly string[];
}

type SummaryConfig = Pick<
  Config,
  | 'databaseUrl'
  | 'metadataDatabaseUrl'
  | 'serverHost'
  | 'adminSecret'
  | 'adminSecrets'
  | 'accessKey'
  | 'authHook'
  | 'jwtSecret'
  | 'jwtSecrets'
  | 'unauthorizedRole'
  | 'enableConsole'
>;

export function startSummary(config: SummaryConfig, url: string, snapshot: Snapshot): StartSummary {
  const sources = [...snapshot.metadata.sources.values()].map(({ name, kind, tables }) => {
    const address = name === 'default' && config.databaseUrl !== null ? `, ${hidePassword(config.databaseUrl)}` : '';
    const away = snapshot.cache.unavailable.sources.find(({ metadata }) => metadata.name === name);
    const state = away === undefined ? `${tables.size} tracked ${tables.size === 1 ? 'table' : 'tables'}` : `NOT AVAILABLE, ${away.reason}`;
    return `${name} (${kind}${address}): ${state}`;
  });
  return {
    url,
    ...(config.enableConsole ? { console: `${url}/console` } : {}),
    databases: sources.length === 0 ? ['none yet'] : sources,
    metadata: config.metadataDatabaseUrl === null ? '' : hidePassword(config.metadataDatabaseUrl),
    open_to: openTo(config),
  };
}

function openTo(config: SummaryConfig): readonly string[] {
  if (adminSecretsOf(config).length === 0) {
    const who = isLoopback(config.serverHost) ? 'everyone on this host' : 'everyone who can reach the port';
    return [`${who}, as administrator: no admin secret is set`];
  }
  const who = ['holders of the admin secret, as administrators'];
  if (config.authHook !== null) who.push(`requests that the webhook ${httpUrl.show(config.authHook)} accepts, in the role that it returns`);
  if (jwtSecretsOf(config).length > 0) who.push('holders of a valid JWT, in the roles of its claims');
  if (config.unauthorizedRole !== null) {
    const role = config.unauthorizedRole === ADMIN_ROLE ? 'ADMINISTRATORS' : `"${config.unauthorizedRole}"`;
    who.push(`everyone else, as ${role} (--unauthorized-role)`);
  }
  return who;
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
