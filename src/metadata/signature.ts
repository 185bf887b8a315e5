/** Signatures of calls, which let a receiver verify that the service sent them. */
import { type Codec, leaf, nonEmptyText, object, parseFailed, required } from './codec.ts';
import { isOwnSetting } from './environment-template.ts';

export interface Signature {
  /** Environment variable with the secret. */
  readonly secretFromEnv: string;
}

const variable: Codec<string> = leaf(
  nonEmptyText.name,
  (json, path) => {
    const name = nonEmptyText.decode(json, path);
    if (isOwnSetting(name))
      throw parseFailed(`env variables starting with "SVC_GRAPHQL_" are not allowed in secret_from_env: ${name}`, path);
    return name;
  },
  (value) => value,
  { description: 'The name of an environment variable that is not a setting of the service.' },
);

/** The key `signature` of a webhook or handler. */
export const signatureCodec: Codec<Signature> = object('Signature', { secretFromEnv: required(variable) });
