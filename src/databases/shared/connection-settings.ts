/** Settings of connections that kinds share: texts from the environment, and TLS. */
import { readFileSync } from 'node:fs';
import { SvcError } from '../../errors/svc-error.ts';
import { type Codec, literal, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import {
  type ConfiguredText,
  type EnvironmentVariables,
  environmentVariable,
  filledTemplate,
  variablesNotFound,
  variablesNotSet,
} from '../../metadata/environment-template.ts';

interface FromEnvironment {
  readonly from_env: string;
}

const fromEnvironment: Codec<FromEnvironment> = object('FromEnv', { from_env: required(nonEmptyText) });

/** @throws SvcError not-found if a variable is not set */
export function connectionText(text: ConfiguredText, environment: EnvironmentVariables): string {
  if (text.kind === 'environment') return variableOf(text.name, environment);
  return filledTemplate(text.text, environment, (variables) => new SvcError('not-found', variablesNotFound(variables)));
}

function variableOf(variable: string, environment: EnvironmentVariables): string {
  return environmentVariable(variable, environment, (variables) => new SvcError('not-found', variablesNotSet(variables)));
}

/** @typeParam Mode values of `sslmode` that the client of the kind supports */
export interface SslConfiguration<Mode extends string> {
  readonly sslmode: Mode;
  readonly sslrootcert?: FromEnvironment;
  readonly sslcert?: FromEnvironment;
  readonly sslkey?: FromEnvironment;
  readonly sslpassword?: FromEnvironment;
}

/** @param name of the codec, for messages */
export function sslConfigurationCodec<const Mode extends string>(name: string, modes: readonly Mode[]): Codec<SslConfiguration<Mode>> {
  return object(name, {
    sslmode: required(literal('SSLMode', modes)),
    sslrootcert: optional(fromEnvironment),
    sslcert: optional(fromEnvironment),
    sslkey: optional(fromEnvironment),
    sslpassword: optional(fromEnvironment),
  });
}

/** Settings of TLS with the text of the certificates. */
export interface SslSettings<Mode> {
  readonly mode: Mode;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
}

/** @throws SvcError not-found if a variable is not set */
export function sslSettings<Mode extends string>(
  configuration: SslConfiguration<Mode>,
  environment: EnvironmentVariables,
): SslSettings<Mode> {
  const value = (reference: FromEnvironment | undefined): string | undefined =>
    reference === undefined ? undefined : variableOf(reference.from_env, environment);
  return {
    mode: configuration.sslmode,
    ca: value(configuration.sslrootcert),
    cert: value(configuration.sslcert),
    key: value(configuration.sslkey),
    passphrase: value(configuration.sslpassword),
  };
}

/** Returns the configured certificates as options of a TLS connection. */
export function tlsIdentity({ ca, cert, key, passphrase }: SslSettings<unknown>): {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
} {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

/** Reads a certificate file that a URL names; `undefined` for `system`, the list that the runtime trusts. @param fail makes the error */
export function certificateFile(path: string | undefined, fail: (error: Error) => SvcError): string | undefined {
  if (path === undefined || path === 'system') return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw fail(error as Error);
  }
}

/** @param fail makes the error for an unknown mode */
export function knownSslMode<Mode extends string>(mode: string, modes: readonly Mode[], fail: (reason: string) => SvcError): Mode {
  const known = modes.find((name) => name === mode);
  if (known === undefined) throw fail(`unknown sslmode "${mode}"`);
  return known;
}
