/** What configurations of sources say of their connections alike: texts from the environment, and TLS. */
import { SvcError } from '../../errors/svc-error.ts';
import { type Codec, literal, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import {
  type ConfiguredText,
  type Environment,
  environmentVariable,
  filledTemplate,
  variablesNotFound,
  variablesNotSet,
} from '../../metadata/environment-template.ts';

interface FromEnvironment {
  readonly from_env: string;
}

const fromEnvironment: Codec<FromEnvironment> = object('FromEnv', { from_env: required(nonEmptyText) });

/** @throws SvcError `not-found` where a variable is not set */
export function connectionText(text: ConfiguredText, environment: Environment): string {
  if (text.kind === 'environment') return variableOf(text.name, environment);
  return filledTemplate(text.text, environment, (names) => new SvcError('not-found', variablesNotFound(names)));
}

function variableOf(variable: string, environment: Environment): string {
  return environmentVariable(variable, environment, (names) => new SvcError('not-found', variablesNotSet(names)));
}

/** `Mode` is what the kind's client knows as `sslmode`. */
export interface SslConfiguration<Mode extends string> {
  readonly sslmode: Mode;
  readonly sslrootcert?: FromEnvironment;
  readonly sslcert?: FromEnvironment;
  readonly sslkey?: FromEnvironment;
  readonly sslpassword?: FromEnvironment;
}

/** @param name what messages call it */
export function sslConfigurationCodec<const Mode extends string>(name: string, modes: readonly Mode[]): Codec<SslConfiguration<Mode>> {
  return object(name, {
    sslmode: required(literal('SSLMode', modes)),
    sslrootcert: optional(fromEnvironment),
    sslcert: optional(fromEnvironment),
    sslkey: optional(fromEnvironment),
    sslpassword: optional(fromEnvironment),
  });
}

/** TLS with the certificates themselves, wherever they were written. */
export interface SslSettings<Mode> {
  readonly mode: Mode;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
}

/** @throws SvcError `not-found` where a variable is not set */
export function sslSettings<Mode extends string>(configuration: SslConfiguration<Mode>, environment: Environment): SslSettings<Mode> {
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

/** The certificates that were given, as options of a TLS connection. */
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
