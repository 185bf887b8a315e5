/** `validate_input` of permissions: who has to agree to the input before anything is written. */
import { bool, type Codec, defaulted, int, leaf, literal, nonEmptyText, object, parseFailed, required } from './codec.ts';
import { type HeaderDefinition, headersCodec } from './environment-template.ts';

export interface ValidateInput {
  readonly type: 'http';
  readonly definition: {
    /** A template: see `fillTemplate`. */
    readonly url: string;
    readonly headers: readonly HeaderDefinition[];
    /** Seconds. */
    readonly timeout: number;
    readonly forwardClientHeaders: boolean;
  };
}

const DEFAULT_TIMEOUT_S = 10;

const seconds: Codec<number> = leaf(
  int.name,
  (json, path) => {
    const value = int.decode(json, path);
    if (value < 0) throw parseFailed('unexpected negative value', path);
    return value;
  },
  (value) => value,
);

export const validateInputCodec: Codec<ValidateInput> = object('ValidateInput', {
  type: required(literal('ValidateInputType', ['http'])),
  definition: required(
    object('ValidateInputHttpDefinition', {
      url: required(nonEmptyText),
      headers: defaulted(headersCodec, () => []),
      timeout: defaulted(seconds, () => DEFAULT_TIMEOUT_S),
      forwardClientHeaders: defaulted(bool, () => false),
    }),
  ),
});
