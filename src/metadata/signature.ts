/** Signatures of calls, by which a receiver knows that the service has sent them. */
import { type Codec, leaf, nonEmptyText, object, parseFailed, required } from './codec.ts';
import { isOwnSetting } from './environment-template.ts';

export interface Signature {
  /** The environment variable that holds the secret. */
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
  { says: 'The name of an environment variable, not one of the service itself.' },
);

/** The key `signature` of what makes calls. */
export const signatureCodec: Codec<Signature> = object('Signature', { secretFromEnv: required(variable) });
