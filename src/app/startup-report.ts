import { ADMIN_ROLE } from '../auth/session.ts';
import { adminSecretsOf } from '../config/access.ts';
import { describeConfig } from '../config/load-config.ts';
import type { Config } from '../config/options.ts';
import { unknownVariables } from '../config/unknown-variables.ts';
import { settingsWithoutEffect } from '../config/without-effect.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import type { Observer } from '../observability/observation.ts';

/** Logs the configuration in force, and warns about open access, unknown variables and settings without effect. */
export function reportConfiguration(config: Config, environment: EnvironmentVariables, instanceId: string, observe: Observer): void {
  observe({ kind: 'startup', message: 'server_configuration', info: { ...describeConfig(config), instance_id: instanceId } });
  const warn = (message: string, warnings: readonly string[]): void => {
    for (const warning of warnings) observe({ kind: 'startup', message, info: { warning } });
  };
  if (adminSecretsOf(config).length === 0)
    warn('open_access', [
      'no admin secret is set: every request has full access to the data and the metadata; set SVC_GRAPHQL_ADMIN_SECRET',
    ]);
  if (config.unauthorizedRole === ADMIN_ROLE)
    warn('open_access', ['the unauthorized role is admin: requests without credentials have full access to the data and the metadata']);
  warn('unknown_variable', unknownVariables(environment));
  warn('setting_without_effect', settingsWithoutEffect(config));
}
